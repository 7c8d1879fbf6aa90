package margin

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

const stageSpread = "spread of classes"

// slack is by how much limits of distances are shifted to be safe from rounding.
const slack = 1e-9

// spreads is A_delta of a class, for each of some rising delta: the largest distance of places of
// rows that are within 2 delta.
func (d *diagnosis) spreads(ctx context.Context, c *class, delta []float64, done *float64) ([]float64, error) {
	if !d.exact {
		return d.spreadBounds(c, delta), nil
	}
	workers := d.settings.Workers
	seen := make([][]float64, workers.Count())
	type memory struct{ rows, places []float64 }
	of := make([]memory, workers.Count())
	rows, places := simd.RowsOf(d.Rows.Data, d.Rows.Stride), simd.RowsOf(d.Places.Data, d.Places.Stride)
	limit := make([]float64, len(delta)) // squared distances of rows
	for j, v := range delta {
		limit[j] = 4 * v * v * (1 + slack)
	}
	for lo := 0; lo < len(c.rows); lo += anchorsAtOnce {
		hi := min(lo+anchorsAtOnce, len(c.rows))
		if err := workers.Do(ctx, hi-lo, par.Func(func(worker, piece int) {
			if seen[worker] == nil {
				seen[worker] = make([]float64, len(delta))
				of[worker] = memory{make([]float64, len(c.rows)), make([]float64, len(c.rows))}
			}
			i := lo + piece
			after := c.rows[i+1:]
			far, apart := of[worker].rows[:len(after)], of[worker].places[:len(after)]
			d.settings.Kernels.SqDists64(far, rowOf(d.Rows, c.rows[i]), rows, after)
			d.settings.Kernels.SqDists64(apart, rowOf(d.Places, c.rows[i]), places, after)
			for j, v := range far {
				// The first delta for which the two rows count; A_delta of later ones follows.
				at, _ := slices.BinarySearch(limit, v)
				if at < len(limit) {
					seen[worker][at] = max(seen[worker][at], apart[j])
				}
			}
		})); err != nil {
			return nil, err
		}
		for i := lo; i < hi; i++ {
			*done += float64(len(c.rows) - 1 - i)
		}
		d.report(stageSpread, int(1000**done/d.pairs), 1000)
	}
	out := make([]float64, len(delta))
	for _, s := range seen {
		for j, v := range s {
			out[j] = max(out[j], math.Sqrt(v))
		}
	}
	for j := 1; j < len(out); j++ {
		out[j] = max(out[j], out[j-1])
	}
	return out, nil
}

// spreadBounds bounds A_delta without looking at pairs: two rows within 2 delta have images that are
// no further apart than the interpolation allows, and no two places are further apart than twice
// the distance of the furthest one from their mean.
func (d *diagnosis) spreadBounds(c *class, delta []float64) []float64 {
	mean := make([]float64, d.Places.Cols)
	for _, row := range c.rows {
		for j, v := range rowOf(d.Places, row) {
			mean[j] += float64(v) / float64(len(c.rows))
		}
	}
	furthest := 0.0
	for _, row := range c.rows {
		var sum float64
		for j, v := range rowOf(d.Places, row) {
			sum += (float64(v) - mean[j]) * (float64(v) - mean[j])
		}
		furthest = max(furthest, math.Sqrt(sum)*(1+slack))
	}
	out := make([]float64, len(delta))
	for j, v := range delta {
		out[j] = 2 * furthest
		if d.Neighbours == 0 {
			out[j] = min(out[j], d.carry(2*v)+2*d.off(c))
		}
	}
	return out
}

// off is how far a place of a class is from the image of its row, at most.
func (d *diagnosis) off(c *class) float64 {
	images, most := d.images(), 0.0
	for _, row := range c.rows {
		most = max(most, distance(rowOf(d.Places, row), rowOf(images, row)))
	}
	return most + d.Rounding
}

// stretch is the largest ratio of a distance of places and one of rows, among all rows with a
// label: no function through all places has a lower Lipschitz constant, and one has this. It is
// infinite where equal rows have different places.
func (d *diagnosis) stretch(ctx context.Context) (float64, error) {
	var all []uint32
	for i, label := range d.Labels {
		if label >= 0 {
			all = append(all, uint32(i))
		}
	}
	workers := d.settings.Workers
	most := make([]float64, workers.Count())
	type memory struct{ rows, places []float64 }
	of := make([]memory, workers.Count())
	rows, places := simd.RowsOf(d.Rows.Data, d.Rows.Stride), simd.RowsOf(d.Places.Data, d.Places.Stride)
	for lo := 0; lo < len(all); lo += anchorsAtOnce {
		hi := min(lo+anchorsAtOnce, len(all))
		if err := workers.Do(ctx, hi-lo, par.Func(func(worker, piece int) {
			if of[worker].rows == nil {
				of[worker] = memory{make([]float64, len(all)), make([]float64, len(all))}
			}
			i := lo + piece
			after := all[i+1:]
			far, apart := of[worker].rows[:len(after)], of[worker].places[:len(after)]
			d.settings.Kernels.SqDists64(far, rowOf(d.Rows, all[i]), rows, after)
			d.settings.Kernels.SqDists64(apart, rowOf(d.Places, all[i]), places, after)
			for j, v := range apart {
				if v > 0 {
					most[worker] = max(most[worker], v/far[j])
				}
			}
		})); err != nil {
			return 0, err
		}
		d.report("smoothest function", hi, len(all))
	}
	return math.Sqrt(slices.Max(most)) * (1 + slack), nil
}
