package supervised

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// scales returns what a recipe multiplies columns by; nil for ones.
func (t *trainer) scales(ctx context.Context, r Recipe) ([]float64, error) {
	switch {
	case r.Standardize:
		return t.scale, nil
	case r.Weigh:
		return t.weights(ctx)
	}
	return nil, nil
}

// leastWithin is the least standard deviation within classes that a weight is computed with,
// relative to that of all rows: no column outweighs all others without bound.
const leastWithin = 1e-3

// weights returns the weight of each column: one over its standard deviation within classes,
// times the root of the ratio of variances between classes and within them, less what that
// ratio is by chance. With c classes, n labelled rows and the F ratio of the column it is
//
//	1 / within * sqrt(max(F - 1, 0) (c - 1) / n).
//
// A column that says nothing of the classes has weight 0.
func (t *trainer) weights(ctx context.Context) ([]float64, error) {
	if t.weight != nil {
		return t.weight, nil
	}
	if err := t.classMeans(ctx); err != nil {
		return nil, err
	}
	d, labelled := t.rows.Cols, 0
	for _, rows := range t.counts {
		labelled += rows
	}
	between, free := float64(len(t.counts)-1), float64(labelled-len(t.counts))
	if between == 0 {
		return nil, ErrEqualMeans
	}
	if free == 0 {
		return nil, ErrNoPairs
	}
	weight, sum := make([]float64, d), 0.0
	const columns = 128
	err := t.core.Workers.Do(ctx, split.Blocks(d, columns), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, d, columns)
		within := make([]float64, hi-lo)
		for i, class := range t.class {
			if class < 0 {
				continue
			}
			mean := t.means.RawRowView(int(class))[lo:hi]
			for j, v := range rowOf(t.rows, i)[lo:hi] {
				x := float64(v) - mean[j]
				within[j] += x * x
			}
		}
		for j, inside := range within {
			if t.flat[lo+j] {
				continue
			}
			var outside, centre float64
			for class, rows := range t.counts {
				centre += float64(rows) * t.means.At(class, lo+j) / float64(labelled)
			}
			for class, rows := range t.counts {
				x := t.means.At(class, lo+j) - centre
				outside += float64(rows) * x * x
			}
			inside = max(inside, leastWithin*leastWithin*outside)
			if lead := outside/inside*free/between - 1; lead > 0 {
				weight[lo+j] = math.Sqrt(lead * between / inside)
			}
		}
	}))
	if err != nil {
		return nil, err
	}
	for _, w := range weight {
		sum += w
	}
	if sum == 0 {
		return nil, ErrEqualMeans
	}
	t.weight = weight
	return weight, nil
}
