package peers

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
)

// peerWideRows is the number of rows the peer, whose time grows with its square, is
// measured with.
const peerWideRows = 20_000

// wide plays a step of the full kernel. The peer takes it for the first rows only,
// and its time is multiplied by the square of the ratio of the rows.
func (c *contest) wide(ctx context.Context, n int, work measure.Portion) error {
	var sizes []suites.WideSize
	for _, s := range suites.WideSizes(c.lab) {
		if s.N = min(s.N, n); !s.Full {
			sizes = append(sizes, s)
		}
	}
	for i, s := range sizes {
		if err := c.wideSize(ctx, s, work.Piece(i, len(sizes))); err != nil {
			return err
		}
	}
	return nil
}

func (c *contest) wideSize(ctx context.Context, s suites.WideSize, work measure.Portion) error {
	few := min(s.N, peerWideRows)
	matches := c.matches(record.Ratio{Suite: "wide", N: s.N, D: s.D, K: suites.WideColumns, PeerN: few}, func(w int) string { return suites.WideName(s, w) })
	if len(matches) == 0 {
		return nil
	}
	x, err := suites.WideRows(c.lab, s.N, s.D)
	if err != nil {
		return err
	}
	// Ours on the same rows, for the comparison of results.
	first := blas32.General{Rows: few, Cols: s.D, Stride: x.Stride, Data: x.Data[:(few-1)*x.Stride+s.D]}
	same, err := suites.WidePoly(ctx, c.lab, first, measure.AllWorkers())
	if err != nil {
		return err
	}
	check, err := suites.NewWideStep(same, few)
	if err != nil {
		return err
	}
	if err := check.Run(ctx); err != nil {
		return err
	}
	for _, m := range matches {
		op, err := suites.WideOperator(ctx, c.lab, s.N, s.D, m.ratio.Workers)
		if err != nil {
			return err
		}
		step, err := suites.NewWideStep(op, s.N)
		if err != nil {
			return err
		}
		m.ours = step.Run
		// Half of eta times the range of x, which is 1, and float32.
		m.most = same.Certificate().RowMax/2 + maxDifference
		m.differ = func(file string) (float64, error) {
			theirs, err := readFloats(file, few*suites.WideColumns)
			if err != nil {
				return 0, err
			}
			worst := 0.0
			for e, v := range theirs {
				worst = max(worst, math.Abs(float64(v)-float64(check.Dst.Data[e]))) // max keeps a NaN
			}
			return worst, nil
		}
	}
	return c.playAll(ctx, "wide", func(file string) error {
		return writePoints(file, &suites.PointSet{Points: first, Radius: suites.WideSigma})
	}, matches, work)
}
