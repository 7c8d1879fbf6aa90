package supervised

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
)

// Recall is how often rows held out find their class: their label is that of the nearest
// of the other rows (At1), or of one of the eight nearest (At8).
type Recall struct{ At1, At8 float64 }

// Held is what was measured on labelled rows that were held out: for each of them a map was
// made, and the others were moved, without it.
type Held struct {
	// Rows is the number of rows held out, one part after the other.
	Rows int
	// Raw is the recall among the rows as they are, Scaled among rows whose columns are
	// divided by their standard deviation, and Chosen that of the recipe. Chosen is
	// measured on rows that had no say in the choice, but for the last word: where raw or
	// scaled rows find more of them, these are taken.
	Raw, Scaled, Chosen Recall
	// Error is the standard error of Chosen.At1 less that of the better one of Raw and
	// Scaled.
	Error float64
	// Tried is how many recipes were compared, 0 when the recipe was given.
	Tried int
}

// listLength is the k of R@k, beside 1.
const listLength = 8

// hits tells of each row held out whether it found its class, in the mean of the times it
// was held out.
type hits struct{ at1, at8 []float64 }

func newHits(n int) hits { return hits{make([]float64, n), make([]float64, n)} }

func (h hits) recall() Recall { return Recall{mean(h.at1), mean(h.at8)} }

// everyOther returns the hits of every other row, from the first or the second on.
func (h hits) everyOther(from int) hits {
	var out hits
	for i := from; i < len(h.at1); i += 2 {
		out.at1, out.at8 = append(out.at1, h.at1[i]), append(out.at8, h.at8[i])
	}
	return out
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// leadError returns the standard error of the mean difference of two lists.
func leadError(a, b []float64) float64 {
	n := float64(len(a))
	if n < 2 {
		return math.Inf(1)
	}
	var sum, squares float64
	for i := range a {
		d := a[i] - b[i]
		sum += d
		squares += d * d
	}
	return math.Sqrt(max(squares/n-sum/n*sum/n, 0) / (n - 1))
}

// A split says which rows are held out from which others.
type split struct{ train, held []int }

// splits returns parts splits of the labelled rows such that each row is held out once, and
// rows of every class are spread over the parts. A row that is alone in its class is never
// held out: nothing could be found. Rows held out come in random order.
func splits(labels []int32, parts int, random *rand.Rand) []split {
	var out []split
	part := make([]int, len(labels)) // -1 for a row that is never held out
	members := make(map[int32][]int)
	var names []int32
	for i, label := range labels {
		if label >= 0 {
			if members[label] == nil {
				names = append(names, label)
			}
			members[label] = append(members[label], i)
		}
	}
	slices.Sort(names)
	next := 0
	for _, name := range names {
		rows := members[name]
		random.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		for _, i := range rows {
			part[i] = next % parts
			next++
		}
		if len(rows) == 1 {
			part[rows[0]] = -1
		}
	}
	for p := range parts {
		var s split
		for i, label := range labels {
			switch {
			case label < 0:
			case part[i] == p:
				s.held = append(s.held, i)
			default:
				s.train = append(s.train, i)
			}
		}
		random.Shuffle(len(s.held), func(a, b int) { s.held[a], s.held[b] = s.held[b], s.held[a] })
		out = append(out, s)
	}
	return out
}

// A bench measures recipes on one split.
type bench struct {
	*fitter
	train, held        blas32.General
	labels, heldLabels []int32
	trainers           map[preparation]*trainer
	prepared           map[preparation]blas32.General // rows held out
	last               *placed
}

// placed are the images of a recipe without steps.
type placed struct {
	recipe      Recipe
	train, held blas32.General
}

func (f *fitter) newBench(rows blas32.General, labels []int32, s split) *bench {
	b := &bench{
		fitter: f, train: gather(rows, s.train), held: gather(rows, s.held),
		labels: pick(labels, s.train), heldLabels: pick(labels, s.held),
		trainers: make(map[preparation]*trainer), prepared: make(map[preparation]blas32.General),
	}
	f.idle()
	return b
}

func pick(labels []int32, rows []int) []int32 {
	out := make([]int32, len(rows))
	for at, i := range rows {
		out[at] = labels[i]
	}
	return out
}

// measure returns the hits of a recipe, 0 or 1 for each row held out.
func (b *bench) measure(ctx context.Context, r Recipe) (hits, error) {
	h := newHits(len(b.heldLabels))
	at, err := b.place(ctx, r.still())
	if err != nil {
		return h, err
	}
	x := at.train
	if r.Steps > 0 {
		x = newRows(x.Rows, x.Cols)
		if _, err = b.move(ctx, x, at.train, b.labels, r); err != nil {
			return h, err
		}
	}
	k := min(listLength, x.Rows)
	index, _, err := nearest.Rows(ctx, at.held, x, k, nearest.Settings{Workers: b.core.Workers, Kernels: b.core.Kernels})
	if err != nil {
		return h, err
	}
	for i, label := range b.heldLabels {
		answers := index[i*k:][:k]
		if b.labels[answers[0]] == label {
			h.at1[i] = 1
		}
		if slices.ContainsFunc(answers, func(j int) bool { return b.labels[j] == label }) {
			h.at8[i] = 1
		}
	}
	return h, nil
}

// place returns the images of both sides; those of the last call are kept.
func (b *bench) place(ctx context.Context, r Recipe) (*placed, error) {
	if b.last != nil && b.last.recipe == r {
		return b.last, nil
	}
	if b.last != nil { // its memory goes before the next images take theirs
		bytes := 4 * int64(len(b.last.train.Data))
		b.last = nil
		mem.Reclaim(bytes)
	}
	t, err := b.trainer(ctx, r.preparation())
	if err != nil {
		return nil, err
	}
	m, err := t.newMap(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &placed{recipe: r, train: t.rows, held: b.prepared[r.preparation()]}
	if m.keeps() {
		b.last = out
		return out, nil
	}
	if out.train, err = m.images(ctx, b.core, t.rows); err != nil {
		return nil, err
	}
	if out.held, err = m.images(ctx, b.core, b.prepared[r.preparation()]); err != nil {
		return nil, err
	}
	b.last = out
	return out, nil
}

// trainer returns that of a preparation, which all recipes with it share. Of many columns
// one trainer keeps its square matrices, the last one.
func (b *bench) trainer(ctx context.Context, p preparation) (*trainer, error) {
	if b.train.Cols > manyColumns {
		for other, t := range b.trainers {
			if other != p {
				t.within, t.total = nil, nil
			}
		}
	}
	if t := b.trainers[p]; t != nil {
		return t, nil
	}
	rows, err := p.apply(ctx, b.core, b.train)
	if err != nil {
		return nil, err
	}
	held, err := p.apply(ctx, b.core, b.held)
	if err != nil {
		return nil, err
	}
	b.prepared[p] = held
	b.trainers[p] = newTrainer(b.core, rows, b.labels)
	return b.trainers[p], nil
}
