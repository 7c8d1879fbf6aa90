package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// spmm plays the products.
func (c *contest) spmm(ctx context.Context, n int) error {
	type size struct {
		k, workers int
		layout     sparse.Layout
	}
	var sizes []size
	name := func(s size) string {
		return fmt.Sprintf("order=curve/n=%d/nnz=%d/k=%d/layout=%v/workers=%d", n, neighbours, s.k, s.layout, s.workers)
	}
	for _, k := range spmmColumns() {
		for _, layout := range []sparse.Layout{sparse.Plain, sparse.Compact} {
			for _, w := range workerCounts() {
				if s := (size{k, w, layout}); c.pattern == nil || c.pattern.MatchString(name(s)) {
					sizes = append(sizes, s)
				}
			}
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	a, err := c.lab.graph("curve", n)
	if err != nil {
		return err
	}
	data := filepath.Join(c.folder, "graph")
	if err := writeGraph(data, a); err != nil {
		return err
	}
	rivals, err := c.rivals(ctx, "spmm", data)
	defer closeRivals(rivals)
	if err != nil {
		return err
	}
	if c.peers == nil || c.peers.MatchString(ownPeer) {
		rivals = append(rivals, &rival{
			peer:     peer{name: ownPeer, pairing: serial},
			opponent: &jamesBowman{a: a.ToJB()},
		})
	}
	for i, s := range sizes {
		a, err := c.lab.graphIn(ctx, "curve", n, s.layout)
		if err != nil {
			return err
		}
		x, y, set := block(n, s.k), zeros(n, s.k), c.lab.workers(s.workers)
		m := &match{
			ratio: Ratio{Suite: "spmm", Case: name(s), N: n, D: 2, K: s.k, NNZ: int64(a.NNZ()), Workers: s.workers, Level: level()},
			k:     s.k, most: maxDifference,
			ours: func(ctx context.Context) error { return a.MulTo(ctx, set, nil, y, x) },
			differ: func(file string) (float64, error) {
				theirs, err := readFloats(file, len(y.Data))
				if err != nil {
					return 0, err
				}
				return productDifference(ctx, a, x, y, theirs)
			},
		}
		err = c.play(ctx, m, rivals, func(round int) float64 {
			return (float64(i) + float64(round)/float64(c.rounds)) / float64(len(sizes))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// productDifference is the largest difference of two products, relative to
// sum_j |a_ij x_j|; NaN if a value is no number.
func productDifference(ctx context.Context, a *sparse.CSR, x, y blas32.General, theirs []float32) (float64, error) {
	absolute, scale := zeros(x.Rows, x.Cols), zeros(x.Rows, x.Cols)
	for e, v := range x.Data {
		absolute.Data[e] = float32(math.Abs(float64(v)))
	}
	// The weights are positive.
	if err := a.MulTo(ctx, nil, nil, scale, absolute); err != nil {
		return 0, err
	}
	worst := 0.0
	for e, v := range y.Data {
		d := math.Abs(float64(v) - float64(theirs[e]))
		if d > 0 {
			worst = max(worst, d/float64(scale.Data[e]))
		} else if math.IsNaN(d) {
			return math.NaN(), nil
		}
	}
	return worst, nil
}
