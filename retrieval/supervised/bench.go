package supervised

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A space is what a recipe does to all rows of a contest before any label is looked at.
type space struct {
	preparation
	// whole rows have their own columns. Those of rows with more columns than there are rows
	// are replaced by coordinates in their span otherwise.
	whole bool
	// standardized columns are divided by their standard deviation before that.
	standardized bool
}

// space returns the space of a recipe, and what is left of the recipe there.
func (c *contest) space(r Recipe) (space, Recipe) {
	s := space{preparation: r.preparation(), whole: c.rows.Rows >= c.rows.Cols || r.Weigh}
	if !s.whole && r.Standardize {
		s.standardized, r.Standardize = true, false
	}
	return s, r
}

// in returns the rows of the contest in a space.
func (c *contest) in(ctx context.Context, s space) (blas32.General, error) {
	if x, known := c.spaces[s]; known {
		return x, nil
	}
	if !c.small() {
		clear(c.spaces)
	}
	x, err := s.preparation.apply(ctx, c.core, c.rows)
	if err != nil {
		return x, err
	}
	if !s.whole {
		t := newTrainer(c.core, x, c.labels)
		if err := t.moments(ctx); err != nil {
			return x, err
		}
		scale := t.scale
		if !s.standardized {
			scale = nil
		}
		span, err := c.core.NewSpan(ctx, x, t.mean, scale)
		if err != nil {
			return x, err
		}
		x = span.Coordinates()
	}
	c.spaces[s] = x
	return x, nil
}

// fewValues is up to how many coordinates the rows of a contest have for those of all spaces to
// stay in memory until it ends.
const fewValues = 1 << 21

func (c *contest) small() bool { return c.rows.Rows*min(c.rows.Rows, c.rows.Cols) <= fewValues }

// A bench measures recipes on one fold.
type bench struct {
	*contest
	fold
	trainLabels []int32
	members     map[int32]int // rows of each class among those searched
	trainers    map[space]*trainer
	held        map[space]blas32.General
	placed      *placed
}

// placed are the images of a recipe without steps.
type placed struct {
	recipe      Recipe
	unit        bool
	train, held blas32.General
	bandwidth   kernel.Bandwidth // of the graph of train, once it is known
}

// bench returns that of a fold. The last one is kept, with what it has computed.
func (c *contest) bench(s fold) *bench {
	if c.last != nil && slices.Equal(c.last.fold.held, s.held) {
		return c.last
	}
	c.last = nil
	b := &bench{contest: c, fold: s, trainLabels: pick(c.labels, s.train)}
	b.members = members(b.trainLabels)
	b.forget()
	c.last = b
	return b
}

func (b *bench) forget() {
	b.trainers, b.held = make(map[space]*trainer), make(map[space]blas32.General)
}

// heldFirst is after how many rows held out a recipe may leave a contest. All others are
// searched at once, as a search has to lay out the rows it searches in.
const heldFirst = 256

// measure adds what the rows held out find under a recipe, until the contest has enough of it.
func (b *bench) measure(ctx context.Context, e *entry) error {
	r := e.Recipe
	at, err := b.place(ctx, r.still())
	if err != nil {
		return err
	}
	x := at.train
	if r.Steps > 0 {
		x = newRows(x.Rows, x.Cols)
		moved, err := b.move(ctx, x, at.train, b.trainLabels, r, at.unit, at.bandwidth)
		if err != nil {
			return err
		}
		at.bandwidth = moved.Graph.Bandwidth
	}
	k := listLength
	if b.goal == GoalMAP {
		k = longList
	}
	k = min(k, x.Rows)
	for lo, hi := 0, min(heldFirst, at.held.Rows); lo < hi && !e.out; lo, hi = hi, at.held.Rows {
		index, _, err := nearest.Rows(ctx, partOf(at.held, lo, hi), x, k, nearest.Settings{Workers: b.core.Workers, Kernels: b.core.Kernels})
		if err != nil {
			return err
		}
		for i := range hi - lo {
			label := b.labels[b.fold.held[lo+i]]
			e.add(index[i*k:][:k], b.trainLabels, label, b.members[label])
			e.nearest[len(e.nearest)-1] = b.train[index[i*k]]
		}
		b.race(e)
	}
	return nil
}

// place returns the images of both sides; those of the last call are kept.
func (b *bench) place(ctx context.Context, r Recipe) (*placed, error) {
	if b.placed != nil && b.placed.recipe == r {
		return b.placed, nil
	}
	if b.placed != nil { // its memory goes before the next images take theirs
		bytes := 4 * int64(len(b.placed.train.Data))
		b.placed = nil
		mem.Reclaim(bytes)
	}
	s, rest := b.space(r)
	t, err := b.trainer(ctx, s)
	if err != nil {
		return nil, err
	}
	m, err := t.newMap(ctx, rest)
	if err != nil {
		return nil, err
	}
	out := &placed{recipe: r, unit: m.UnitImages, train: t.rows, held: b.held[s]}
	if !m.keeps() {
		if out.train, err = m.images(ctx, b.core, t.rows); err != nil {
			return nil, err
		}
		if out.held, err = m.images(ctx, b.core, b.held[s]); err != nil {
			return nil, err
		}
	}
	b.placed = out
	return out, nil
}

// trainer returns that of a space, which all recipes in it share.
func (b *bench) trainer(ctx context.Context, s space) (*trainer, error) {
	if t := b.trainers[s]; t != nil {
		return t, nil
	}
	if !b.small() {
		b.forget()
	}
	rows, err := b.in(ctx, s)
	if err != nil {
		return nil, err
	}
	t := newTrainer(b.core, gather(rows, b.train), b.trainLabels)
	if !s.whole {
		t.columns = b.rows.Cols
	}
	b.trainers[s], b.held[s] = t, gather(rows, b.fold.held)
	return t, nil
}
