package supervised

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
)

// Voters is how many of the nearest rows vote where nobody says otherwise.
const Voters = 8

// ErrNoClasses reports a model whose rows have no labels: one of an earlier version, or one that
// was made without them.
var ErrNoClasses = errors.New("the model does not know the classes of its rows")

// Vote returns the class that the nearest rows of a query vote for, and its share of all votes.
// labels are those of the rows, nearest first; rows without a label (-1) do not vote. Of n rows
// that vote the nearest has n votes, the next n - 1, and the last one has 1. Between classes with as
// many votes the one with the nearest row wins. Where no row votes the class is -1.
//
// So one row that votes decides alone, three decide as the nearest does, and of more a few that
// agree outvote it. The distances themselves do not count: votes are the same at every scale.
func Vote(labels []int32) (class int32, share float64) { return winner(tallyOf(labels)) }

// winner returns the class with most votes, the first of those with as many, and its share.
func winner(counted []tally) (class int32, share float64) {
	class = -1
	var most, all int64
	for _, t := range counted {
		all += t.votes
		if t.votes > most {
			class, most = t.label, t.votes
		}
	}
	if all == 0 {
		return class, 0
	}
	return class, float64(most) / float64(all)
}

// A tally is how many votes a class has.
type tally struct {
	label int32
	votes int64
}

// tallyOf counts the votes of rows with these labels, nearest first. Classes come in the order of
// their nearest rows.
func tallyOf(labels []int32) (all []tally) {
	votes := int64(0)
	for _, label := range labels {
		if label >= 0 {
			votes++
		}
	}
	for _, label := range labels {
		if label < 0 {
			continue
		}
		at := slices.IndexFunc(all, func(t tally) bool { return t.label == label })
		if at < 0 {
			at = len(all)
			all = append(all, tally{label: label})
		}
		all[at].votes += votes
		votes--
	}
	return all
}

// A Voter tells classes of images by the labelled rows of a model that are nearest to them, as Vote
// does. It has a copy of these rows and is safe for concurrent use.
type Voter struct {
	rows    blas32.General
	labels  []int32 // of rows
	classes []int32 // of labels, ascending
}

// Voter makes ready what Vote of its result needs. It reads X, as Saved.Reading wants for a model of
// a file. The memory limit of e counts the copy while it is made. Errors: ErrNoClasses, kernel.ErrShape,
// kernel.ErrMemory, privatemail.ErrClosed, and that of ctx.
func (m *Model) Voter(ctx context.Context, e *privatemail.Engine) (_ *Voter, err error) {
	defer par.Catch(&err)
	if err := m.checkSizes(); err != nil {
		return nil, fmt.Errorf("supervised: classes: %w", err)
	}
	classes := m.Classes()
	if len(classes) == 0 {
		return nil, fmt.Errorf("supervised: %w", ErrNoClasses)
	}
	v := &Voter{classes: classes}
	var rows []int
	for i, label := range m.Labels {
		if label >= 0 {
			rows = append(rows, i)
			v.labels = append(v.labels, label)
		}
	}
	err = e.Reserve(ctx, 4*int64(len(rows))*int64(m.X.Cols), func(context.Context) error {
		v.rows = gather(m.X, rows)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("supervised: classes: %w", err)
	}
	return v, nil
}

// Votes are what a Voter says of some images. Parts that are nil are not wanted.
type Votes struct {
	// Labels has the class of each image, and Shares its share of the votes.
	Labels []int32
	Shares []float32
	// Table has the shares of all classes, a row for each image and a column for each of
	// Voter.Classes.
	Table blas32.General
}

// Classes returns the labels that can be voted for, ascending: those of the columns of Votes.Table.
// They must not be changed.
func (v *Voter) Classes() []int32 { return v.classes }

// votedAtOnce is how many images are looked up at a time, and votersAtOnce how many rows may vote for
// them together, but for those of one image.
const votedAtOnce, votersAtOnce = 4096, 1 << 22

// Vote tells the classes of images z, as Map.Apply returns them, by their k nearest rows, or by all
// where there are fewer; 0 stands for Voters. Each is the nearest by Euclidean distance, and among
// equals by row number, so that the same rows give the same votes for any number of workers. The memory limit of e counts what that takes. On
// an error some of the votes may have been written.
//
// Errors: kernel.ErrShape for sizes that do not fit and k below 0, kernel.ErrNonFinite,
// kernel.ErrMemory, privatemail.ErrClosed, and that of ctx.
func (v *Voter) Vote(ctx context.Context, e *privatemail.Engine, z blas32.General, k int, to Votes) (err error) {
	defer par.Catch(&err)
	k = cmp.Or(k, Voters)
	if err := v.check(z, k, to); err != nil {
		return fmt.Errorf("supervised: classes: %w", err)
	}
	k = min(k, v.rows.Rows)
	size := min(z.Rows, votedAtOnce, max(1, votersAtOnce/k))
	ids := make([]int32, size*k)
	for lo := 0; lo < z.Rows; lo += size {
		part := partOf(z, lo, min(lo+size, z.Rows))
		found := ids[:part.Rows*k]
		if err := e.Nearest32(ctx, v.rows, part, k, found, nil); err != nil {
			return fmt.Errorf("supervised: classes: %w", shiftRow(err, lo))
		}
		for i := range part.Rows {
			v.count(found[i*k:(i+1)*k], lo+i, to)
		}
	}
	return nil
}

// shiftRow counts the row of an error from the first of all images.
func shiftRow(err error, first int) error {
	if e, ok := errors.AsType[*points.NonFiniteError](err); ok {
		return &points.NonFiniteError{What: e.What, Row: e.Row + first, Col: e.Col}
	}
	return err
}

// check refuses sizes that do not fit.
func (v *Voter) check(z blas32.General, k int, to Votes) error {
	n, d, err := points.Dims(z)
	switch {
	case err != nil:
		return err
	case d != v.rows.Cols:
		return fmt.Errorf("%w: images of %d columns, those of the model have %d", points.ErrShape, d, v.rows.Cols)
	case k < 1:
		return fmt.Errorf("%w: %d voters, want 1 or more", points.ErrShape, k)
	case to.Labels != nil && len(to.Labels) != n, to.Shares != nil && len(to.Shares) != n:
		return fmt.Errorf("%w: %d labels and %d shares for %d images", points.ErrShape, len(to.Labels), len(to.Shares), n)
	case to.Table.Data != nil:
		return points.CheckSize(to.Table, n, len(v.classes))
	}
	return nil
}

// count counts the votes of the rows found for image i; each becomes its label.
func (v *Voter) count(found []int32, i int, to Votes) {
	for at, row := range found {
		found[at] = v.labels[row]
	}
	counted := tallyOf(found)
	class, share := winner(counted)
	if to.Labels != nil {
		to.Labels[i] = class
	}
	if to.Shares != nil {
		to.Shares[i] = float32(share)
	}
	if to.Table.Data == nil {
		return
	}
	row := rowOf(to.Table, i)
	clear(row)
	all := float64(len(found)) * float64(len(found)+1) / 2
	for _, t := range counted {
		column, _ := slices.BinarySearch(v.classes, t.label)
		row[column] = float32(float64(t.votes) / all)
	}
}
