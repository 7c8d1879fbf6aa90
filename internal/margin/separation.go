package margin

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
)

// firstLook and secondLook are how many neighbours rows are asked for. Where classes are mixed, one of
// another class is among the first; where a class has no more rows than the second, always.
const firstLook, secondLook = 8, 128

// gaps returns for every row with a label how far the nearest row is that has another one, by
// exact search among such rows. With unlabelled, rows without a label count as another class, too.
// All other rows have 0.
func (d *diagnosis) gaps(ctx context.Context, stage string, x blas32.General, unlabelled bool) ([]float64, error) {
	g := &gapSearch{diagnosis: d, stage: stage, x: x, out: make([]float64, x.Rows)}
	for i, label := range d.Labels {
		if label >= 0 {
			g.open = append(g.open, i)
		}
		if label >= 0 || unlabelled {
			g.all = append(g.all, i)
		}
	}
	g.total = len(g.open)
	if err := g.look(ctx, slices.Clone(g.open), firstLook); err != nil {
		return nil, err
	}
	g.stage, g.total, g.done = stage+" of classes", len(g.open), 0
	large := make(map[int32]bool)
	most := 0
	for _, c := range d.classes {
		if large[c.label] = len(c.rows) > secondLook; !large[c.label] {
			most = max(most, len(c.rows))
		}
	}
	small := slices.DeleteFunc(slices.Clone(g.open), func(row int) bool { return large[d.Labels[row]] })
	for part := range slices.Chunk(small, rowsAtOnce) {
		if err := g.look(ctx, part, most); err != nil {
			return nil, err
		}
	}
	for _, c := range d.classes {
		if large[c.label] {
			if err := g.beyond(ctx, c.label); err != nil {
				return nil, err
			}
		}
	}
	return g.out, nil
}

// A gapSearch looks for the nearest rows of other classes.
type gapSearch struct {
	*diagnosis
	stage string
	x     blas32.General
	all   []int     // rows that may be found
	open  []int     // rows whose distance is not known
	out   []float64 // distances of the others
	total int       // rows that are asked for in a stage
	done  int       // of them
}

// rowsAtOnce is how many rows have the memory of their neighbours at a time.
const rowsAtOnce = 8192

// search is nearest.Within, with progress.
func (g *gapSearch) search(ctx context.Context, asking, among []int, k int) (index []int, squared []float64, err error) {
	index, squared, err = nearest.Within(ctx, g.x, asking, among, k, nearest.Settings{
		Workers: g.settings.Workers, Kernels: g.settings.Kernels,
		Progress: func(done, _ int) { g.report(g.stage, g.done+done, g.total) },
	})
	if err != nil {
		return nil, nil, fmt.Errorf("margin: %s: %w", g.stage, err)
	}
	g.done += len(asking)
	return index, squared, nil
}

// look asks for the k nearest rows of some open rows.
func (g *gapSearch) look(ctx context.Context, asking []int, k int) error {
	if len(asking) == 0 {
		return nil
	}
	k = min(k, len(g.all)-1)
	index, squared, err := g.search(ctx, asking, g.all, k)
	if err != nil {
		return err
	}
	settled := make(map[int]bool)
	for q, row := range asking {
		at := slices.IndexFunc(index[q*k:][:k], func(other int) bool { return g.Labels[other] != g.Labels[row] })
		if at >= 0 {
			g.out[row], settled[row] = math.Sqrt(squared[q*k+at]), true
		}
	}
	g.open = slices.DeleteFunc(g.open, func(row int) bool { return settled[row] })
	return nil
}

// beyond searches the rows of all other classes for the open rows of one.
func (g *gapSearch) beyond(ctx context.Context, label int32) error {
	own := func(row int) bool { return g.Labels[row] == label }
	asking := slices.DeleteFunc(slices.Clone(g.open), func(row int) bool { return !own(row) })
	if len(asking) == 0 {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(g.all), own)
	_, squared, err := g.search(ctx, asking, others, 1)
	if err != nil {
		return err
	}
	for q, row := range asking {
		g.out[row] = math.Sqrt(squared[q])
	}
	g.open = slices.DeleteFunc(g.open, own)
	return nil
}

// A Quantile is a distance that a given number of the rows do not exceed.
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
