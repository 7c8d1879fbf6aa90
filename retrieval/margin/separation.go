package margin

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
)

// firstLook is how many neighbours every row is asked for, at first. Where classes are small or
// mixed, one of another class is among them.
const firstLook = 8

// gaps returns for every row with a label how far the nearest row is that has another one, by
// exact search among such rows. With unlabelled, rows without a label count as another class, too.
// All other rows have 0.
func (d *diagnosis) gaps(ctx context.Context, stage string, x blas32.General, unlabelled bool) ([]float64, error) {
	out := make([]float64, x.Rows)
	var all, asking []int
	for i, label := range d.Labels {
		if label >= 0 {
			asking = append(asking, i)
		}
		if label >= 0 || unlabelled {
			all = append(all, i)
		}
	}
	settings := nearest.Settings{Workers: d.settings.Workers, Kernels: d.settings.Kernels}
	total, before := 2*len(asking), 0
	settings.Progress = func(done, _ int) { d.report(stage, before+done, total) }
	k := min(firstLook, len(all)-1)
	index, squared, err := nearest.Within(ctx, x, asking, all, k, settings)
	if err != nil {
		return nil, fmt.Errorf("margin: %s: %w", stage, err)
	}
	before = len(asking)
	open := make(map[int32][]int) // rows of a class whose first neighbours are all of it
	for q, row := range asking {
		at := slices.IndexFunc(index[q*k:][:k], func(other int) bool { return d.Labels[other] != d.Labels[row] })
		if at >= 0 {
			out[row] = math.Sqrt(squared[q*k+at])
			continue
		}
		open[d.Labels[row]] = append(open[d.Labels[row]], row)
	}
	for _, c := range d.classes {
		rows := open[c.label]
		if len(rows) == 0 {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(all), func(row int) bool { return d.Labels[row] == c.label })
		_, squared, err := nearest.Within(ctx, x, rows, others, 1, settings)
		if err != nil {
			return nil, fmt.Errorf("margin: %s: %w", stage, err)
		}
		for q, row := range rows {
			out[row] = math.Sqrt(squared[q])
		}
		before += len(rows)
	}
	d.report(stage, total, total)
	return out, nil
}

// A Quantile is a distance that so many of the rows do not exceed.
type Quantile struct {
	Share    float64 `json:"share"`
	Distance float64 `json:"distance"`
}

// quantiles returns some of the values' quantiles: of n values, that of share q is the value of
// rank ceil(q n), the least at q = 0. It sorts the values.
func quantiles(values []float64, shares ...float64) (out []Quantile) {
	slices.Sort(values)
	for _, q := range shares {
		rank := int(math.Ceil(q * float64(len(values))))
		out = append(out, Quantile{q, values[max(rank, 1)-1]})
	}
	return out
}
