package supervised

import "slices"

// A field is the recipes that a contest begins with, and how they go on.
type field struct {
	first  []Recipe
	ridges []float64 // tried on the best of each projection, up and down while no less is found
	shares []int     // one over the share of columns tried on the best recipes
	strong int       // how many get fewer columns
	moved  int       // how many get steps, not counting the one that would be taken
	betas  []float64 // of their step
}

// manyColumns is from where on a projection takes a good part of a second, and a contest
// tries fewer.
const manyColumns = 400

// manyClasses is from where on a discriminant of rows in many columns does what a whitening
// does, and takes less time.
const manyClasses = 20

// newField returns the field for rows of d values in a number of classes.
func newField(d, classes int) *field {
	unit, root := Recipe{UnitRows: true}, Recipe{Root: true, UnitRows: true}
	if d > manyColumns {
		f := &field{ridges: []float64{0.1, 0.3, 1, 10, 100}, strong: 1, betas: []float64{defaultBeta}}
		discriminated := func(r Recipe) Recipe {
			r.Projection, r.Ridge, r.UnitImages = Discriminate, 0.1, true
			return r
		}
		f.first = []Recipe{discriminated(rawRecipe()), discriminated(scaledRecipe()), rawRecipe(), scaledRecipe(), {Weigh: true}, unit, discriminated(root)}
		if classes < manyClasses {
			root.Projection, root.Ridge, root.UnitImages = Whiten, 1, true
			f.first = append(f.first, root)
		}
		return f
	}
	f := &field{ridges: []float64{0.001, 0.01, 0.1, 1, 10, 100}, shares: []int{2, 4}, strong: 2, moved: 1, betas: []float64{1, defaultBeta}}
	f.first = append(bases(), unit, root, Recipe{Root: true, Standardize: true}, Recipe{Standardize: true, UnitImages: true},
		Recipe{Weigh: true}, Recipe{Weigh: true, UnitImages: true})
	for _, r := range []Recipe{rawRecipe(), scaledRecipe(), unit, root, {Weigh: true}} {
		r.Ridge = 0.1
		for _, r.Projection = range []Projection{Whiten, Discriminate} {
			for _, r.UnitImages = range []bool{false, true} {
				f.first = append(f.first, r)
			}
		}
	}
	return f
}

// size is how many recipes a contest tries at most.
func (f *field) size() int {
	return len(f.first) + 2*(len(f.ridges)-1) + f.strong*len(f.shares) + len(f.betas)*(1+f.moved)
}

// ladders returns the ridges above one, and those below it, as they are tried.
func (f *field) ladders(ridge float64) [][]float64 {
	var up, down []float64
	for _, r := range f.ridges {
		switch {
		case r > ridge:
			up = append(up, r)
		case r < ridge:
			down = append(down, r)
		}
	}
	slices.Reverse(down)
	return [][]float64{up, down}
}

// bases are the recipes that all others are compared with.
func bases() []Recipe { return []Recipe{rawRecipe(), scaledRecipe()} }

// narrower returns the recipe with fewer of d columns.
func (f *field) narrower(r Recipe, d int) (all []Recipe) {
	if r.Projection == Discriminate || r.Columns != 0 {
		return nil
	}
	for _, share := range f.shares {
		if r.Columns = d / share; r.Columns > 1 {
			all = append(all, r)
		}
	}
	return all
}

// moving returns the recipe with one step. A second one makes the nearest row a little better
// and all others worse (R@8): the rows of a class become one point.
func (f *field) moving(r Recipe) (all []Recipe) {
	r.Steps, r.Neighbours = 1, defaultNeighbours
	for _, r.Beta = range f.betas {
		all = append(all, r)
	}
	return all
}
