package main

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// peerWideRows is the number of rows the peer, whose time grows with its square, is
// measured with.
const peerWideRows = 20_000

// wide plays a step of the full kernel. The peer takes it for the first rows only,
// and its time is multiplied by the square of the ratio of the rows.
func (c *contest) wide(ctx context.Context, n int, work portion) error {
	var sizes []wideSize
	for _, s := range wideSizes(c.lab) {
		if s.n = min(s.n, n); !s.full {
			sizes = append(sizes, s)
		}
	}
	for i, s := range sizes {
		if err := c.wideSize(ctx, s, work.piece(i, len(sizes))); err != nil {
			return err
		}
	}
	return nil
}

func (c *contest) wideSize(ctx context.Context, s wideSize, work portion) error {
	few := min(s.n, peerWideRows)
	matches := c.matches(Ratio{Suite: "wide", N: s.n, D: s.d, K: wideColumns, PeerN: few}, func(w int) string { return wideName(s, w) })
	if len(matches) == 0 {
		return nil
	}
	x, err := wideRows(c.lab, s.n, s.d)
	if err != nil {
		return err
	}
	// Ours on the same rows, for the comparison of results.
	first := blas32.General{Rows: few, Cols: s.d, Stride: x.Stride, Data: x.Data[:(few-1)*x.Stride+s.d]}
	same, err := widePoly(ctx, c.lab, first, allWorkers())
	if err != nil {
		return err
	}
	check, err := newWideStep(same, few)
	if err != nil {
		return err
	}
	if err := check.run(ctx); err != nil {
		return err
	}
	for _, m := range matches {
		op, err := wideOperator(ctx, c.lab, s.n, s.d, m.ratio.Workers)
		if err != nil {
			return err
		}
		step, err := newWideStep(op, s.n)
		if err != nil {
			return err
		}
		m.ours = step.run
		// Half of eta times the range of x, which is 1, and float32.
		m.most = same.Certificate().RowMax/2 + maxDifference
		m.differ = func(file string) (float64, error) {
			theirs, err := readFloats(file, few*wideColumns)
			if err != nil {
				return 0, err
			}
			worst := 0.0
			for e, v := range theirs {
				worst = max(worst, math.Abs(float64(v)-float64(check.dst.Data[e]))) // max keeps a NaN
			}
			return worst, nil
		}
	}
	return c.playAll(ctx, "wide", func(file string) error {
		return writePoints(file, &pointSet{points: first, radius: wideSigma})
	}, matches, work)
}
