package supervised

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A contest compares recipes on the same splits of the same labelled rows.
type contest struct {
	*fitter
	goal    Goal
	rows    blas32.General
	labels  []int32
	numbers []int // of the rows, among those of Fit
	spaces  map[space]blas32.General
	folds   []fold
	row     []int // that was held out, in the order of scores
	tenth   []int // of each row, the part of the choice that it has no say in
	entries []*entry
	last    *bench
}

// An entry is a recipe of a contest and what was found under it so far.
type entry struct {
	Recipe
	scores
	field bool // may be taken
	stays bool // is measured on all rows, however it does
	out   bool // has left the contest: it is clearly behind, or rows do not allow it
}

// tenths is into how many parts rows held out are divided, one of which has no say in a choice
// that is measured on it.
const tenths = 10

func (f *fitter) newContest(rows blas32.General, labels []int32, labelled []int, random *rand.Rand) *contest {
	p := planOf(len(labelled), rows.Cols)
	some := sample(labels, labelled, p.rows, random)
	c := &contest{
		fitter: f.alone(p, rows.Cols), goal: f.settings.Goal, rows: gather(rows, some), labels: pick(labels, some), numbers: some,
		spaces: make(map[space]blas32.General),
	}
	f.idle()
	for len(c.row) < p.held && len(c.folds) < p.folds {
		for _, s := range splits(c.labels, p.parts, random) {
			if left := p.held - len(c.row); left > 0 && len(c.folds) < p.folds && len(s.held) > 0 {
				s.held = s.held[:min(len(s.held), left)]
				c.folds = append(c.folds, s)
				c.row = append(c.row, s.held...)
			}
		}
	}
	c.tenth = make([]int, len(some))
	for at, i := range random.Perm(len(some)) {
		c.tenth[i] = at % tenths
	}
	return c
}

// fewProducts is up to how many products of two numbers the search of a fold takes for workers
// to wait for each other longer than they work.
const fewProducts = 1 << 22

// alone returns the fitter of a contest, which works alone where the parts are small.
func (f *fitter) alone(p plan, columns int) *fitter {
	if p.rows/p.parts*p.rows*min(columns, p.rows) > fewProducts {
		return f
	}
	one := *f
	one.core = &dense.Core{Kernels: f.core.Kernels}
	return &one
}

// entry returns that of a recipe, nil if there is none.
func (c *contest) entry(r Recipe) *entry {
	for _, e := range c.entries {
		if e.Recipe == r {
			return e
		}
	}
	return nil
}

// try measures recipes that are not known yet. One that these rows do not allow, such as a
// projection where no two rows share a label, leaves the contest.
func (c *contest) try(ctx context.Context, fresh ...*entry) error {
	fresh = slices.DeleteFunc(fresh, func(e *entry) bool {
		known := c.entry(e.Recipe)
		if known != nil {
			known.field = known.field || e.field
			return true
		}
		c.entries = append(c.entries, e)
		return false
	})
	for at, s := range c.folds {
		if !slices.ContainsFunc(fresh, func(e *entry) bool { return !e.out }) {
			c.measured(len(fresh) * (len(c.folds) - at))
			break
		}
		b := c.bench(s)
		for _, e := range fresh {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !e.out {
				err := b.measure(ctx, e)
				if impossible(err) {
					e.out, e.stays = true, false
				} else if err != nil {
					return err
				}
			}
			c.measured(1)
		}
	}
	return nil
}

// impossible tells errors that are about a recipe from those that end the work. A bandwidth
// out of range is that of rows which a recipe has put into few places, steps that diverge
// are those of rows it has left as large as they are.
func impossible(err error) bool {
	return errors.Is(err, ErrNoPairs) || errors.Is(err, ErrEqualMeans) || errors.Is(err, iterate.ErrDiverged) || errors.Is(err, kernel.ErrBandwidth) || errors.Is(err, points.ErrShape) || errors.Is(err, points.ErrNonFinite) || errors.Is(err, dense.ErrNotDefinite)
}

const (
	// farBehind is by how many standard errors an entry leaves the contest: so many that it
	// would hardly ever be the best of all rows.
	farBehind = 3
	// fewestHeld is how many rows it takes to tell.
	fewestHeld = 200
)

// race ends the part of an entry that is far behind another one on the rows that both have.
func (c *contest) race(e *entry) {
	n := e.rows()
	if e.stays || n < fewestHeld {
		return
	}
	for _, other := range c.entries {
		if other != e && other.field && other.rows() >= n {
			if by, err := lead(other.of[c.goal][:n], e.of[c.goal], c.row[:n], len(c.labels)); by > farBehind*err {
				e.out = true
				return
			}
		}
	}
}

// best returns the entries that pass and were measured on all rows, best first by the goal of
// the rows that count.
func (c *contest) best(pass func(*entry) bool, counts func(i int) bool) []*entry {
	var all []*entry
	found := make(map[*entry]float64)
	for _, e := range c.entries {
		if !e.out && e.rows() == len(c.row) && pass(e) {
			all = append(all, e)
			found[e] = e.recall(counts).At(c.goal)
		}
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(found[b], found[a]) })
	return all
}

func inField(e *entry) bool { return e.field }

// choice returns the entry to take by the rows that count, all of them where counts is nil:
// among those that the best one does not beat by a standard error the one with the purest
// lists (P@8), and the first one of equals. Steps have to beat none by a standard error to be
// among them: they make lists pure whether or not these find more. It is nil if there is none.
func (c *contest) choice(counts func(i int) bool) *entry {
	var all []*entry
	for _, e := range c.best(inField, counts) {
		still := c.entry(e.still())
		if e.Steps == 0 || still == nil || still.out || !still.field || c.ahead(e, still, counts) {
			all = append(all, e)
		}
	}
	var taken *entry
	var purest float64
	for _, e := range all {
		if c.ahead(all[0], e, counts) {
			continue
		}
		if p := e.recall(counts).P8; taken == nil || p > purest || p == purest && c.place(e) < c.place(taken) {
			taken, purest = e, p
		}
	}
	return taken
}

// ahead reports whether an entry beats another one by a standard error on the rows that count.
func (c *contest) ahead(e, other *entry, counts func(i int) bool) bool {
	rows := make([]int, 0, len(c.row))
	var a, b []float64
	for i, row := range c.row {
		if counts == nil || counts(i) {
			rows, a, b = append(rows, row), append(a, e.of[c.goal][i]), append(b, other.of[c.goal][i])
		}
	}
	by, err := lead(a, b, rows, len(c.labels))
	return by > err
}

// place is the place of an entry among those of the contest.
func (c *contest) place(e *entry) int { return slices.Index(c.entries, e) }

// run holds the contest, in three rounds: where rows are put, how strong projections are and how
// many columns they leave, and the steps.
func (c *contest) run(ctx context.Context, f *field) error {
	try := func(recipes []Recipe) error {
		var fresh []*entry
		for _, r := range c.fixed(recipes) {
			fresh = append(fresh, &entry{Recipe: r, field: true})
		}
		return c.try(ctx, fresh...)
	}
	if err := try(f.first); err != nil {
		return err
	}
	if err := c.bases(ctx); err != nil { // which Settings.Fix has changed in the field
		return err
	}
	var more []Recipe
	leaders := func(n int, pass func(*entry) bool) []*entry {
		all := c.best(pass, nil)
		return all[:min(n, len(all))]
	}
	for _, e := range leaders(f.strong, inField) {
		more = append(more, f.narrower(e.Recipe, c.rows.Cols)...)
	}
	var strong []*entry
	for _, p := range []Projection{Whiten, Discriminate} {
		strong = append(strong, leaders(1, func(e *entry) bool { return e.field && e.Projection == p })...)
	}
	if err := try(more); err != nil {
		return err
	}
	if err := c.climb(ctx, f, strong); err != nil {
		return err
	}
	more = nil
	if e := c.choice(nil); e != nil {
		more = append(more, f.moving(e.Recipe)...)
	}
	for _, e := range leaders(f.moved, inField) {
		more = append(more, f.moving(e.Recipe)...)
	}
	return try(more)
}

// climb tries other ridges on some entries, up and down. In each direction it goes on while a ridge
// finds no less than the one before it.
func (c *contest) climb(ctx context.Context, f *field, from []*entry) error {
	type way struct {
		last *entry
		left []float64
	}
	var ways []way
	for _, e := range from {
		for _, ridges := range f.ladders(e.Ridge) {
			if len(ridges) > 0 {
				ways = append(ways, way{e, ridges})
			}
		}
	}
	next := func(w way) Recipe {
		r := w.last.Recipe
		r.Ridge = w.left[0]
		return c.fixed([]Recipe{r})[0]
	}
	for len(ways) > 0 {
		var fresh []*entry
		for _, w := range ways {
			fresh = append(fresh, &entry{Recipe: next(w), field: true})
		}
		if err := c.try(ctx, fresh...); err != nil {
			return err
		}
		var up []way
		for _, w := range ways {
			e := c.entry(next(w))
			w.left = w.left[1:]
			if len(w.left) > 0 && !e.out && e.recall(nil).At(c.goal) >= w.last.recall(nil).At(c.goal) {
				up = append(up, way{e, w.left})
			} else {
				c.measured(len(w.left) * len(c.folds)) // none of them will be
			}
		}
		ways = up
	}
	return nil
}

// bases measures what the user compares a recipe with, until it is clearly behind.
func (c *contest) bases(ctx context.Context) error {
	var fresh []*entry
	for _, r := range bases() {
		fresh = append(fresh, &entry{Recipe: r})
	}
	return c.try(ctx, fresh...)
}

// held returns what the contest has measured of its choice: of each tenth of the rows by the
// recipe that the other nine chose.
func (c *contest) held(taken *entry) *Held {
	out := &Held{Goal: c.goal, Tried: len(c.entries)}
	of := make([]*entry, tenths)
	for t := range of {
		of[t] = c.choice(func(i int) bool { return c.tenth[c.row[i]] != t })
	}
	var found scores
	for i, row := range c.row {
		e := of[c.tenth[row]]
		found.nearest = append(found.nearest, taken.nearest[i])
		for g := range found.of {
			found.of[g] = append(found.of[g], e.of[g][i])
		}
	}
	c.compare(out, &found)
	const shown = 3
	all := c.best(inField, nil)
	for at, e := range all {
		if at < shown || e == taken {
			out.Best = append(out.Best, Trial{e.Recipe, e.recall(nil)})
		}
	}
	return out
}

// compare fills in what was found, and how far it is ahead of raw and scaled rows.
func (c *contest) compare(out *Held, found *scores) {
	counted := slices.Clone(c.row)
	slices.Sort(counted)
	out.Rows = len(slices.Compact(counted))
	out.Chosen = found.recall(nil)
	var better *entry
	for _, r := range bases() {
		e := c.entry(r)
		if e.rows() == 0 {
			continue
		}
		if better == nil || e.recall(nil).At(c.goal) > better.recall(nil).At(c.goal) {
			better = e
		}
		if out.Scaled = e.recall(nil); r == rawRecipe() {
			out.Raw = out.Scaled
		}
	}
	if better != nil {
		n := better.rows()
		_, out.Error = lead(found.of[c.goal][:n], better.of[c.goal], c.row[:n], len(c.labels))
	}
	times := make(map[int]int)
	for _, i := range found.nearest {
		times[i]++
		if n := times[i]; float64(n) > out.HubShare*float64(len(c.row)) {
			out.Hub, out.HubShare = c.numbers[i], float64(n)/float64(len(c.row))
		}
	}
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
