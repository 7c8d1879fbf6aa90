package supervised

import "slices"

// A field is the recipes that a contest begins with, and how they go on.
type field struct {
	first  []Recipe
	ridges []float64 // tried on the best projections
	shares []int     // one over the share of columns tried on the best recipes
	strong int       // how many projections get other ridges
	moved  int       // how many recipes get steps; 0 where steps are chosen apart
	betas  []float64 // tried with the best number of steps
}

// manyColumns is from where on a projection takes a good part of a second, and a contest
// tries fewer.
const manyColumns = 400

// newField returns the field for rows of d values, with recipes that have steps or without.
func newField(d int, steps bool) *field {
	unit := Recipe{UnitRows: true}
	root := Recipe{Root: true, UnitRows: true}
	if d > manyColumns {
		return &field{
			first:  slices.Concat(bases(), []Recipe{unit}, projected([]Recipe{unit, root}, []Projection{Discriminate}, []bool{true}, 1)),
			ridges: []float64{0.3, 3}, strong: 1,
		}
	}
	f := &field{
		first: slices.Concat(bases(), []Recipe{unit, root, {Root: true, Standardize: true}, {Standardize: true, UnitImages: true}},
			projected([]Recipe{Raw(), Scaled(), unit, root}, []Projection{Whiten, Discriminate}, []bool{false, true}, 0.1)),
		ridges: []float64{0.001, 0.01, 1, 10}, shares: []int{2, 4}, strong: 2,
	}
	if steps {
		f.moved, f.betas = 3, []float64{1, 10}
	}
	return f
}

// size is how many recipes a contest tries, about.
func (f *field) size() int {
	return len(f.first) + f.strong*(len(f.ridges)+len(f.shares)) + 2*f.moved + len(f.betas)
}

// bases are the recipes that all others have to beat.
func bases() []Recipe { return []Recipe{Raw(), Scaled()} }

func projected(prepared []Recipe, projections []Projection, unitImages []bool, ridge float64) (all []Recipe) {
	for _, r := range prepared {
		r.Ridge = ridge
		for _, r.Projection = range projections {
			for _, r.UnitImages = range unitImages {
				all = append(all, r)
			}
		}
	}
	return all
}

// stronger returns the recipe with other ridges.
func (f *field) stronger(r Recipe) (all []Recipe) {
	for _, r.Ridge = range f.ridges {
		all = append(all, r)
	}
	return all
}

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

// moving returns the recipe with one step and with two.
func moving(r Recipe, beta float64) []Recipe {
	one, two := r, r
	one.Steps, one.Beta, one.Neighbours = 1, beta, defaultNeighbours
	two.Steps, two.Beta, two.Neighbours = 2, beta, defaultNeighbours
	return []Recipe{one, two}
}
