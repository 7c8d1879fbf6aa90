package supervised

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

const (
	// fewest is the number of labelled rows below which nothing is measured.
	fewest = 20
	// nestedRows is up to how many labelled rows the whole choice is repeated for each
	// part of the rows that is held out.
	nestedRows = 1000
	// parts is into how many parts rows are divided, one of them held out at a time.
	parts = 3
	// enoughRows is how many rows a contest holds out in all, if that takes no more than
	// mostSplits parts; rows are divided again where one division has too few.
	enoughRows = 400
	mostSplits = 3
	// heldRows is how many rows are held out of more rows than nestedRows, a fifth of them
	// at most.
	heldRows = 2000
	// searchedRows is how many of the others they are looked for among.
	searchedRows = 100_000
	// wideHeldRows and wideSearchedRows are these for rows of more than manyColumns columns,
	// which take longer.
	wideHeldRows, wideSearchedRows = 1200, 6000
	// contestRows is how many of the others take part in the contest, and contestHeld how
	// many of these a part holds out at most.
	contestRows = 4000
	contestHeld = 600
)

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
		return f.fixed([]Recipe{Raw()})[0], nil, nil
	case len(labelled) < fewest:
		return *recipe, nil, nil
	}
	nested := len(labelled) <= nestedRows && rows.Cols <= manyColumns
	measure, contests, measurements := f.heldOut, 1, 1
	if nested {
		measure, contests, measurements = f.nested, parts+1, parts
	}
	f.planned = 3 * measurements
	if recipe == nil {
		f.planned += contests * newField(rows.Cols, nested).size()
	}
	defer func() {
		if ctx.Err() == nil {
			f.report(StageRecipes, f.planned, f.planned)
		}
	}()
	f.report(StageRecipes, 0, f.planned)
	random := rand.New(rand.NewPCG(s.Seed, 0x7265636970650a))
	chosen, held, err := measure(ctx, rows, labels, labelled, recipe, random)
	if recipe != nil && impossible(err) { // parts of the rows do not allow it, all may
		return *recipe, nil, nil
	}
	return chosen, held, err
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

// nested chooses on all rows and measures on parts that are held out: for each of them the
// choice is made again on the others. A recipe that is given is measured alone.
func (f *fitter) nested(ctx context.Context, rows blas32.General, labels []int32, labelled []int, recipe *Recipe, random *rand.Rand) (Recipe, *Held, error) {
	rows, labels = gather(rows, labelled), pick(labels, labelled)
	outer := splits(labels, parts, random)
	held := new(measurement)
	for _, s := range outer {
		b := f.newBench(rows, labels, s)
		if recipe != nil {
			if err := held.add(ctx, b, *recipe); err != nil {
				return *recipe, nil, err
			}
			continue
		}
		r, _, err := f.contest(ctx, b.train, b.labels, random, true)
		if err == nil {
			err = held.addChosen(ctx, b, r)
		}
		if err != nil {
			return r, nil, err
		}
	}
	if recipe != nil {
		return *recipe, held.result(), nil
	}
	r, tried, err := f.contest(ctx, rows, labels, random, true)
	if err != nil {
		return r, nil, err
	}
	held.tried = tried
	return f.settle(r, held), held.result(), nil
}

// heldOut holds rows out once. A contest on some of the others finds the map. Half of the
// rows held out then choose its steps, among as many rows as there will be: what steps do
// depends on how many rows a class has. The other half measures. A recipe that is given is
// measured on all.
func (f *fitter) heldOut(ctx context.Context, rows blas32.General, labels []int32, labelled []int, recipe *Recipe, random *rand.Rand) (Recipe, *Held, error) {
	most, searched := heldRows, searchedRows
	if rows.Cols > manyColumns {
		most, searched = wideHeldRows, wideSearchedRows
	}
	s := heldSplit(labels, labelled, searched, random)
	s.held = s.held[:min(len(s.held), most)]
	held := new(measurement)
	if recipe != nil {
		if err := held.add(ctx, f.newBench(rows, labels, s), *recipe); err != nil {
			return *recipe, nil, err
		}
		return *recipe, held.result(), nil
	}
	some := sample(labels, s.train, contestRows, random)
	r, tried, err := f.contest(ctx, gather(rows, some), pick(labels, some), random, false)
	if err != nil {
		return r, nil, err
	}
	c := f.newContest(rows, labels, []split{s})
	r, more, err := f.steps(ctx, c, r)
	if err == nil {
		err = c.try(ctx, bases()...)
	}
	if err != nil {
		return r, nil, err
	}
	held.take(c, r)
	held.tried = tried + more
	return f.settle(r, held), held.result(), nil
}

// heldSplit holds out a fifth of the labelled rows from a sample of the others of at most the
// given size. Rows are held out of classes that the sample has: others could not be found.
func heldSplit(labels []int32, labelled []int, most int, random *rand.Rand) split {
	s := splits(pick(labels, labelled), 5, random)[0]
	train, held := sample(labels, at(labelled, s.train), most, random), at(labelled, s.held)
	there := make(map[int32]bool)
	for _, i := range train {
		there[labels[i]] = true
	}
	held = slices.DeleteFunc(held, func(i int) bool { return !there[labels[i]] })
	return split{train, held}
}

// contest returns the winner on rows, with recipes that have steps or without, and how many
// recipes were compared.
func (f *fitter) contest(ctx context.Context, rows blas32.General, labels []int32, random *rand.Rand, steps bool) (Recipe, int, error) {
	var s []split
	for held := 0; held < enoughRows && len(s) < mostSplits; {
		for _, one := range splits(labels, parts, random) {
			one.held = one.held[:min(len(one.held), contestHeld)]
			if held < enoughRows {
				s = append(s, one)
				held += len(one.held)
			}
		}
	}
	c := f.newContest(rows, labels, s)
	r, err := c.run(ctx, newField(rows.Cols, steps))
	return r, len(c.results), err
}

// settle returns the recipe to take after the measurement on rows that had no say in the
// choice: the better plain one, where that found more.
func (f *fitter) settle(r Recipe, m *measurement) Recipe {
	better, found := m.base()
	if f.settings.Fix == nil && m.chosen.recall().At1 < found.recall().At1 {
		r, m.chosen = better, found
	}
	switch r { // these were measured themselves, whatever parts of the rows chose
	case Raw():
		m.chosen = m.raw
	case Scaled():
		m.chosen = m.scaled
	}
	return r
}

// at returns the entries of v at some places.
func at(v, places []int) []int {
	out := make([]int, len(places))
	for i, p := range places {
		out[i] = v[p]
	}
	return out
}

// smallClass is the mean number of rows of a class below which a sample takes whole classes.
const smallClass = 16

// sample returns at most n of the rows, in their order: rows of every class in proportion,
// or whole classes where rows of each would be few.
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
		taken, full := make(map[int32]bool), 0
		for _, i := range rows {
			if label := labels[i]; !taken[label] && full+count[label] <= n {
				taken[label] = true
				full += count[label]
			}
		}
		for _, i := range rows {
			if taken[labels[i]] {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return out
}
