package margin

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// masses says which balls have which mass in a class: a ball of radius delta[j] around a row holds
// at least eta[j] of the class, for all but a share unseen of its rows.
type masses struct {
	counts     []int     // of other rows of the class, rising
	eta, delta []float64 // of each count
	unseen     float64
	anchors    []uint32  // rows around which distances were measured
	nearest    []float64 // of each anchor, to the nearest other row of the class
}

// countsUpTo returns numbers from 1 to n, all of the first ones and then fewer.
func countsUpTo(n int) (counts []int) {
	for k := 1; k < n; k = max(k+1, k+k/7) {
		counts = append(counts, k)
	}
	if n > 0 {
		counts = append(counts, n)
	}
	return counts
}

// leastShare is the limit of Clopper and Pearson: a share so small that successes or more of so
// many trials have a probability of at most miss.
func leastShare(successes, trials int, miss float64) float64 {
	a, b := float64(successes), float64(trials-successes+1)
	low, high := 0.0, 1.0
	for range 60 { // RegIncBeta is the probability of that many successes or more
		if middle := (low + high) / 2; mathext.RegIncBeta(a, b, middle) <= miss {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// balls measures masses around the anchors of a class. Of the mistakes that the confidence
// leaves, the class has one part in as many as there are classes. Half of it is for the masses
// around anchors: for each count and each anchor, the ball up to the neighbour of that count has a
// mass that is distributed by Beta(count, others - count + 1) or is larger. The other half is for
// rows that are no anchors: where more than a share u of the class has no ball of radius delta and
// mass eta, that no anchor is such a row has the probability (1-u)^anchors.
func (d *diagnosis) balls(ctx context.Context, c *class, done *int) (*masses, error) {
	others := len(c.rows) - 1
	m := &masses{anchors: d.anchorsOf(c), counts: countsUpTo(others)}
	if others < 1 {
		*done += len(m.anchors)
		return m, nil
	}
	miss := (1 - d.settings.Confidence) / 2 / float64(len(d.classes)) / float64(len(m.counts))
	m.unseen = -math.Expm1(math.Log(miss) / float64(len(m.anchors)))
	for _, k := range m.counts {
		m.eta = append(m.eta, leastShare(k, others, miss/float64(len(m.anchors))))
	}
	m.nearest = make([]float64, len(m.anchors))
	m.delta = make([]float64, len(m.counts))
	workers := d.settings.Workers
	far := make([][]float64, workers.Count()) // the largest distances that each worker has seen
	memory := make([][]float64, workers.Count())
	x, rows := d.Rows, simd.RowsOf(d.Rows.Data, d.Rows.Stride)
	for lo := 0; lo < len(m.anchors); lo += anchorsAtOnce {
		part := m.anchors[lo:min(lo+anchorsAtOnce, len(m.anchors))]
		if err := workers.Do(ctx, len(part), par.Func(func(worker, piece int) {
			if far[worker] == nil {
				far[worker], memory[worker] = make([]float64, len(m.counts)), make([]float64, len(c.rows))
			}
			to := memory[worker]
			d.settings.Kernels.SqDists64(to, rowOf(x, part[piece]), rows, c.rows)
			slices.Sort(to) // the row itself is at 0, and so is the first
			for j, k := range m.counts {
				far[worker][j] = max(far[worker][j], to[k])
			}
			m.nearest[lo+piece] = math.Sqrt(to[1])
		})); err != nil {
			return nil, err
		}
		*done += len(part)
		d.report(stageMasses, *done, d.anchors)
	}
	for _, f := range far {
		for j, v := range f {
			m.delta[j] = max(m.delta[j], math.Sqrt(v))
		}
	}
	return m, nil
}

const stageMasses = "masses of balls"

// anchorsAtOnce is how many rows are measured before progress is reported.
const anchorsAtOnce = 256

// anchorsOf draws the rows of a class around which masses are measured.
func (d *diagnosis) anchorsOf(c *class) []uint32 {
	most := min(len(c.rows), d.settings.Anchors)
	if most == len(c.rows) {
		return c.rows
	}
	rng := rand.New(rand.NewPCG(d.settings.Seed, uint64(c.label)))
	out := make([]uint32, 0, most)
	for i, row := range c.rows { // every set of that many rows is as likely
		if rng.IntN(len(c.rows)-i) < most-len(out) {
			out = append(out, row)
		}
	}
	return out
}
