package main

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// spmmColumns are the widths products are measured with.
func spmmColumns() []int { return []int{1, 2, 8, 32} }

// spmmCases multiply a graph of 32 neighbours a row with k columns.
func spmmCases(l *lab) (out []benchCase) {
	n := l.size(1_000_000)
	for _, order := range []string{"curve", "random"} {
		for _, k := range spmmColumns() {
			for _, layout := range spmmLayouts(order) {
				for _, w := range workerCounts() {
					out = append(out, benchCase{
						name: spmmName(order, n, k, layout, w), n: n, d: 2, k: k, workers: w,
						full: order == "random" && k != 8 || layout == sparse.Compact16,
						setup: func(ctx context.Context, l *lab) (*subject, error) {
							return spmmSubject(ctx, l, order, n, k, w, layout)
						},
					})
				}
			}
		}
	}
	return out
}

func spmmName(order string, n, k int, layout sparse.Layout, workers int) string {
	return fmt.Sprintf("order=%s/n=%d/nnz=%d/k=%d/layout=%v/workers=%d", order, n, neighbours, k, layout, workers)
}

// spmmLayouts are those measured: the one New makes, and others beside it.
// Columns in random order are too far apart for them.
func spmmLayouts(order string) []sparse.Layout {
	if order == "random" {
		return []sparse.Layout{sparse.Plain}
	}
	return []sparse.Layout{sparse.Plain, sparse.Compact, sparse.Compact16}
}

// graphIn returns the graph in a layout.
func graphIn(ctx context.Context, l *lab, order string, n int, layout sparse.Layout) (*sparse.CSR, error) {
	a, err := graphInOrder(l, order, n)
	if err != nil || layout == sparse.Plain {
		return a, err
	}
	return shared(l, fmt.Sprint("graph ", order, n, layout), func() (*sparse.CSR, error) { return a.Convert(ctx, nil, layout) })
}

// graphInOrder returns the graph along the curve, or shuffled.
func graphInOrder(l *lab, order string, n int) (*sparse.CSR, error) {
	a, err := shared(l, fmt.Sprint("graph ", n), func() (*sparse.CSR, error) { return curveGraph(n) })
	if err != nil || order == "curve" {
		return a, err
	}
	return shared(l, fmt.Sprint("shuffled graph ", n), func() (*sparse.CSR, error) { return shuffled(a) })
}

// spmmBytes is the model of a product in 32-bit compressed rows: 8 bytes an
// entry and 8 a row pointer, x read and y written once.
func spmmBytes(n int, nnz int64, k int) int64 { return 8*nnz + 8*int64(n+1) + 8*int64(n)*int64(k) }

// layoutBytes is the same for a matrix in its layout: one that takes less memory is
// held against the time of that, or it would seem nearer to the limit than it is.
func layoutBytes(a *sparse.CSR, k int) int64 { return a.Streamed() + 8*int64(a.Rows())*int64(k) }

func spmmSubject(ctx context.Context, l *lab, order string, n, k, count int, layout sparse.Layout) (*subject, error) {
	a, err := graphIn(ctx, l, order, n, layout)
	if err != nil {
		return nil, err
	}
	x, dst, workers := block(n, k), zeros(n, k), l.workers(count)
	nnz := int64(a.NNZ())
	relative, _ := a.ValueError()
	sub := &subject{
		nnz: nnz, bytes: layoutBytes(a, k), madds: float64(nnz) * float64(k), roof: roofRead, eta: relative, etaP99: math.NaN(),
		run: func(ctx context.Context) error { return a.MulTo(ctx, workers, nil, dst, x) },
	}
	if order == "random" {
		// Every entry reads a row of x from anywhere in it.
		sub.roof = roofGather
		sub.gather, err = l.gatherLimit(ctx, 4*int64(n)*int64(k), count)
	}
	return sub, err
}
