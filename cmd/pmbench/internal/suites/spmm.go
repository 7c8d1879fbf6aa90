package suites

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// SpmmColumns are the widths products are measured with.
func SpmmColumns() []int { return []int{1, 2, 8, 32} }

// spmmCases multiply a graph of 32 neighbours a row with k columns.
func spmmCases(l *measure.Lab) (out []measure.Case) {
	n := l.Size(1_000_000)
	for _, order := range []string{"curve", "random"} {
		for _, k := range SpmmColumns() {
			for _, layout := range spmmLayouts(order) {
				for _, w := range measure.WorkerCounts() {
					out = append(out, measure.Case{
						Name: SpmmName(order, n, k, layout, w), N: n, D: 2, K: k, Workers: w,
						Full: order == "random" && k != 8 || layout == sparse.Compact16,
						Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
							return spmmSubject(ctx, l, order, n, k, w, layout)
						},
					})
				}
			}
		}
	}
	return out
}

// SpmmName is the name of a case of suite spmm.
func SpmmName(order string, n, k int, layout sparse.Layout, workers int) string {
	return fmt.Sprintf("order=%s/n=%d/nnz=%d/k=%d/layout=%v/workers=%d", order, n, Neighbours, k, layout, workers)
}

// spmmLayouts are those measured: the one New makes, and others next to it.
// Columns in random order are too far apart for them.
func spmmLayouts(order string) []sparse.Layout {
	if order == "random" {
		return []sparse.Layout{sparse.Plain}
	}
	return []sparse.Layout{sparse.Plain, sparse.Compact, sparse.Compact16}
}

// GraphIn returns the graph in a layout.
func GraphIn(ctx context.Context, l *measure.Lab, order string, n int, layout sparse.Layout) (*sparse.CSR, error) {
	a, err := GraphInOrder(l, order, n)
	if err != nil || layout == sparse.Plain {
		return a, err
	}
	return measure.Shared(l, fmt.Sprint("graph ", order, n, layout), func() (*sparse.CSR, error) { return a.Convert(ctx, nil, layout) })
}

// GraphInOrder returns the graph along the curve, or shuffled.
func GraphInOrder(l *measure.Lab, order string, n int) (*sparse.CSR, error) {
	a, err := measure.Shared(l, fmt.Sprint("graph ", n), func() (*sparse.CSR, error) { return curveGraph(n) })
	if err != nil || order == "curve" {
		return a, err
	}
	return measure.Shared(l, fmt.Sprint("shuffled graph ", n), func() (*sparse.CSR, error) { return shuffled(a) })
}

// spmmBytes is the model of a product in 32-bit compressed rows: 8 bytes an
// entry and 8 a row pointer, x read and y written once.
func spmmBytes(n int, nnz int64, k int) int64 { return 8*nnz + 8*int64(n+1) + 8*int64(n)*int64(k) }

// layoutBytes is the same for a matrix in its layout: one that takes less memory is
// held against the time of that, or it would seem nearer to the limit than it is.
func layoutBytes(a *sparse.CSR, k int) int64 { return a.Streamed() + 8*int64(a.Rows())*int64(k) }

func spmmSubject(ctx context.Context, l *measure.Lab, order string, n, k, count int, layout sparse.Layout) (*measure.Subject, error) {
	a, err := GraphIn(ctx, l, order, n, layout)
	if err != nil {
		return nil, err
	}
	x, dst, workers := Block(n, k), Zeros(n, k), l.Workers(count)
	nnz := int64(a.NNZ())
	relative, _ := a.ValueError()
	sub := &measure.Subject{
		NNZ: nnz, Bytes: layoutBytes(a, k), Madds: float64(nnz) * float64(k), Roof: measure.RoofRead, Eta: relative, EtaP99: math.NaN(),
		Run: func(ctx context.Context) error { return a.MulTo(ctx, workers, nil, dst, x) },
	}
	if order == "random" {
		// Every entry reads a row of x from anywhere in it.
		sub.Roof = measure.RoofGather
		sub.Gather, err = l.GatherLimit(ctx, 4*int64(n)*int64(k), count)
	}
	return sub, err
}
