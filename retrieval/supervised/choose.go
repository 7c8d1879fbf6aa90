package supervised

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// fewest is the number of labelled rows below which nothing is measured.
const fewest = 20

// choose returns the recipe to take, and what was measured.
func (f *fitter) choose(ctx context.Context, rows blas32.General, labels []int32) (Recipe, *Held, error) {
	s := f.settings
	var recipe *Recipe
	if s.Recipe != nil {
		r := f.fixed([]Recipe{*s.Recipe})[0]
		if err := r.Check(); err != nil || s.Unmeasured {
			return r, nil, err
		}
		recipe = &r
	}
	labelled := measurable(labels)
	switch {
	case labelled == nil && recipe == nil:
		return Recipe{}, nil, ErrNoPairs
	case len(labelled) < fewest && recipe == nil:
		return f.fixed([]Recipe{rawRecipe()})[0], nil, nil
	case len(labelled) < fewest:
		return *recipe, nil, nil
	}
	c := f.newContest(rows, labels, labelled, rand.New(rand.NewPCG(s.Seed, 0x7265636970650a)))
	field := newField(rows.Cols, len(members(c.labels)))
	c.planned = len(c.folds) * (len(bases()) + 1)
	if recipe == nil {
		c.planned = len(c.folds) * (len(bases()) + field.size())
	}
	defer func() {
		if ctx.Err() == nil {
			c.report(stageRecipes, c.planned, c.planned)
		}
	}()
	c.report(stageRecipes, 0, c.planned)
	if recipe != nil {
		held, err := c.measureOnly(ctx, *recipe)
		return *recipe, held, err
	}
	if err := c.run(ctx, field); err != nil {
		return Recipe{}, nil, err
	}
	taken := c.choice(nil)
	if taken == nil { // rows do not even allow to be left as they are in parts
		return f.fixed([]Recipe{rawRecipe()})[0], nil, nil
	}
	return taken.Recipe, c.held(taken), nil
}

// measureOnly measures a recipe that was given; nothing where parts of the rows do not allow
// it, as all may.
func (c *contest) measureOnly(ctx context.Context, r Recipe) (*Held, error) {
	if err := c.bases(ctx); err != nil {
		return nil, err
	}
	if c.entry(r) == nil {
		if err := c.try(ctx, &entry{Recipe: r, stays: true}); err != nil {
			return nil, err
		}
	}
	e, raw := c.entry(r), c.entry(rawRecipe())
	if e.out || raw.out {
		return nil, nil
	}
	out := &Held{Goal: c.goal}
	c.compare(out, &e.scores)
	return out, nil
}

// measurable returns the rows that have a label; none where no two share one.
func measurable(labels []int32) []int {
	var out []int
	seen := make(map[int32]bool)
	pairs := false
	for i, label := range labels {
		if label >= 0 {
			out = append(out, i)
			pairs = pairs || seen[label]
			seen[label] = true
		}
	}
	if !pairs {
		return nil
	}
	return out
}

// members counts the rows of each class.
func members(labels []int32) map[int32]int {
	count := make(map[int32]int)
	for _, label := range labels {
		count[label]++
	}
	return count
}

// pick returns the labels of some rows.
func pick(labels []int32, rows []int) []int32 {
	out := make([]int32, len(rows))
	for at, i := range rows {
		out[at] = labels[i]
	}
	return out
}

// smallClass is the mean number of rows of a class below which a sample takes whole classes.
const smallClass = 16

// sample returns at most n of the rows, 2 or more, in their order: rows of every class in
// proportion, or whole classes where rows of each would be few. A class that is larger than both
// its share and a tenth of the sample gives only so many rows. Two rows of the sample at least
// have the same label if two of the rows do.
func sample(labels []int32, rows []int, n int, random *rand.Rand) []int {
	if len(rows) <= n {
		return rows
	}
	rows = slices.Clone(rows)
	random.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	count := make(map[int32]int)
	for _, i := range rows {
		count[labels[i]]++
	}
	var out []int
	if n/len(count) >= smallClass {
		out = rows[:n]
	} else {
		if first := slices.IndexFunc(rows, func(i int) bool { return count[labels[i]] > 1 }); first > 0 {
			rows[0], rows[first] = rows[first], rows[0]
		}
		left, full := make(map[int32]int), 0 // how many rows of a class are still to be taken
		for _, i := range rows {
			label := labels[i]
			if _, met := left[label]; met {
				continue
			}
			left[label] = 0
			share := float64(n) * float64(count[label]) / float64(len(rows))
			if wanted := min(count[label], max(int(share), n/10, 2)); full+wanted <= n {
				left[label] = wanted
				full += wanted
			}
		}
		for _, i := range rows {
			if label := labels[i]; left[label] > 0 {
				left[label]--
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return out
}
