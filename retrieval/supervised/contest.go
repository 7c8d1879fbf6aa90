package supervised

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/points"
)

// A contest compares recipes on the same splits of the same rows.
type contest struct {
	*fitter
	splits  []split
	benches []*bench
	times   []float64 // how often each row was held out
	d       int
	results map[Recipe]hits // of all rows
}

func (f *fitter) newContest(rows blas32.General, labels []int32, s []split) *contest {
	c := &contest{fitter: f, splits: s, times: make([]float64, rows.Rows), d: rows.Cols, results: make(map[Recipe]hits)}
	for _, one := range s {
		c.benches = append(c.benches, f.newBench(rows, labels, one))
		for _, i := range one.held {
			c.times[i]++
		}
	}
	return c
}

// try measures recipes that are not known yet, as they are. One that these rows do not
// allow, such as a projection where no two rows share a label, takes no part.
func (c *contest) try(ctx context.Context, recipes ...Recipe) error {
	for _, r := range recipes {
		if _, known := c.results[r]; known {
			continue
		}
		h := newHits(len(c.times))
		for b, one := range c.benches {
			found, err := one.measure(ctx, r)
			if impossible(err) {
				h.at1 = nil
				break
			}
			if err != nil {
				return err
			}
			for at, i := range c.splits[b].held {
				h.at1[i] += found.at1[at] / c.times[i]
				h.at8[i] += found.at8[at] / c.times[i]
			}
		}
		if h.at1 != nil {
			c.results[r] = c.heldOnly(h)
		}
		c.measured()
	}
	return nil
}

// heldOnly returns the hits of the rows that were held out at all.
func (c *contest) heldOnly(h hits) hits {
	var out hits
	for i, times := range c.times {
		if times > 0 {
			out.at1, out.at8 = append(out.at1, h.at1[i]), append(out.at8, h.at8[i])
		}
	}
	return out
}

// impossible tells errors that are about a recipe from those that end the work. A bandwidth
// out of range is that of rows which a recipe has put into few places, steps that diverge
// are those of rows it has left as large as they are.
func impossible(err error) bool {
	return errors.Is(err, ErrNoPairs) || errors.Is(err, ErrEqualMeans) || errors.Is(err, iterate.ErrDiverged) || errors.Is(err, kernel.ErrBandwidth) || errors.Is(err, points.ErrShape) || errors.Is(err, points.ErrNonFinite) || errors.Is(err, dense.ErrNotDefinite)
}

// best returns the recipes of the results that pass, best first by R@1, at most n.
func (c *contest) best(n int, pass func(Recipe) bool) []Recipe {
	var all []Recipe
	for r := range c.results {
		if pass(r) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Recipe) int {
		ra, rb := c.results[a].recall(), c.results[b].recall()
		return cmp.Or(cmp.Compare(rb.At1, ra.At1), cmp.Compare(rb.At8, ra.At8), cmp.Compare(a.String(), b.String()))
	})
	return all[:min(n, len(all))]
}

// fixed returns recipes as Settings.Fix changes them, without repetitions.
func (f *fitter) fixed(recipes []Recipe) []Recipe {
	var out []Recipe
	for _, r := range recipes {
		if f.settings.Fix != nil {
			f.settings.Fix(&r)
		}
		r.Complete()
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// run holds the contest, in three rounds: where rows are put, how strong projections are
// and how many columns they leave, and the steps.
func (c *contest) run(ctx context.Context, f *field) (Recipe, error) {
	var allowed []Recipe
	try := func(recipes []Recipe) error {
		recipes = c.fixed(recipes)
		allowed = append(allowed, recipes...)
		return c.try(ctx, recipes...)
	}
	pass := func(r Recipe) bool { return slices.Contains(allowed, r) }
	if err := c.try(ctx, bases()...); err != nil { // what all others are compared with
		return Recipe{}, err
	}
	base := c.fixed(bases())
	if c.perfect(base[0]) {
		return base[0], nil
	}
	if err := try(f.first); err != nil {
		return Recipe{}, err
	}
	var more []Recipe
	for _, r := range c.best(f.strong, func(r Recipe) bool { return pass(r) && r.Projection != Keep }) {
		more = append(more, f.stronger(r)...)
	}
	for _, r := range c.best(f.strong, pass) {
		more = append(more, f.narrower(r, c.d)...)
	}
	if err := try(more); err != nil {
		return Recipe{}, err
	}
	more = nil
	for _, r := range c.best(f.moved, pass) {
		more = append(more, moving(r, defaultBeta)...)
	}
	if err := try(more); err != nil {
		return Recipe{}, err
	}
	for _, r := range c.best(1, pass) {
		more = nil
		for _, beta := range f.betas {
			if r.Beta = beta; r.Steps > 0 {
				more = append(more, r)
			}
		}
	}
	if err := try(more); err != nil {
		return Recipe{}, err
	}
	return c.winner(base, pass), nil
}

// perfect tells whether nothing can find more than a recipe does.
func (c *contest) perfect(r Recipe) bool {
	h, known := c.results[r]
	return known && h.recall() == Recall{1, 1}
}

const (
	// scaledLead is by how many standard errors scaled rows have to beat raw ones.
	scaledLead = 1
	// clearLead is by how many standard errors a recipe has to beat the better one of raw
	// and scaled rows. So many recipes are compared that one of them is ahead by one
	// standard error by chance.
	clearLead = 2
	// slack is what a recipe may lose of the R@8 of raw rows.
	slack = 0.005
)

// winner returns the best recipe that passes, keeps the R@8 of raw rows and clearly beats
// the bases, raw and scaled rows as Settings.Fix changes them; the better of these if there
// is none.
func (c *contest) winner(bases []Recipe, pass func(Recipe) bool) Recipe {
	floor := c.results[Raw()].recall().At8 - slack
	base, ok := bases[0], false
	for _, r := range bases {
		if h, known := c.results[r]; known && (!ok || ahead(h, c.results[base], scaledLead)) {
			base, ok = r, true
		}
	}
	for _, r := range c.best(len(c.results), pass) {
		if h := c.results[r]; h.recall().At8 >= floor && (!ok || ahead(h, c.results[base], clearLead)) {
			return r
		}
	}
	return base
}

// ahead tells whether one recipe finds more than another, by so many standard errors.
func ahead(one, other hits, errors float64) bool {
	return mean(one.at1)-mean(other.at1) > errors*leadError(one.at1, other.at1)
}

// steps returns a recipe with the steps that find most (R@1) on every other row held out, if
// they clearly beat none and keep the R@8 of raw rows to half a standard error; and how many
// were compared. It is Raw where the rows do not even allow the recipe without steps.
func (f *fitter) steps(ctx context.Context, c *contest, r Recipe) (Recipe, int, error) {
	recipes := f.fixed(append(append([]Recipe{r}, moving(r, defaultBeta)...), moving(r, 1)[0]))
	if err := c.try(ctx, append([]Recipe{Raw()}, recipes...)...); err != nil {
		return r, 0, err
	}
	none, known := c.results[recipes[0]]
	if !known {
		return Raw(), 0, nil
	}
	raw := c.results[Raw()].everyOther(0)
	none = none.everyOther(0)
	best, most := recipes[0], mean(none.at1)
	for _, one := range recipes[1:] {
		h, known := c.results[one]
		if !known {
			continue
		}
		h = h.everyOther(0)
		keeps := mean(h.at8)+leadError(h.at8, raw.at8)/2 >= mean(raw.at8)-slack
		if keeps && mean(h.at1) > most && ahead(h, none, clearLead) {
			best, most = one, mean(h.at1)
		}
	}
	return best, len(recipes) - 1, nil
}
