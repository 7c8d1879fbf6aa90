package main

import (
	"context"
	"math"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"
)

// peerWideRows is the number of rows the peer, whose time grows with its square, is
// measured with.
const peerWideRows = 20_000

// wide plays a step of the full kernel. The peer takes it for the first rows only,
// and its time is multiplied by the square of the ratio of the rows.
func (c *contest) wide(ctx context.Context, n int) error {
	var sizes []wideSize
	for _, s := range wideSizes(c.lab) {
		if s.n = min(s.n, n); !s.full {
			sizes = append(sizes, s)
		}
	}
	for i, s := range sizes {
		if err := c.wideSize(ctx, s, float64(i)/float64(len(sizes)), 1/float64(len(sizes))); err != nil {
			return err
		}
	}
	return nil
}

func (c *contest) wideSize(ctx context.Context, s wideSize, from, span float64) error {
	var counts []int
	for _, w := range workerCounts() {
		if c.pattern == nil || c.pattern.MatchString(wideName(s, w)) {
			counts = append(counts, w)
		}
	}
	if len(counts) == 0 {
		return nil
	}
	x, err := c.lab.wideRows(s.n, s.d)
	if err != nil {
		return err
	}
	few := min(s.n, peerWideRows)
	part := blas32.General{Rows: few, Cols: s.d, Stride: x.Stride, Data: x.Data[:(few-1)*x.Stride+s.d]}
	data := filepath.Join(c.folder, "rows")
	if err := writePoints(data, &pointSet{points: part, radius: wideSigma}); err != nil {
		return err
	}
	rivals, err := c.rivals(ctx, "wide", data)
	defer closeRivals(rivals)
	if err != nil {
		return err
	}
	for i, w := range counts {
		// Ours on the same rows, for the comparison of results.
		same, err := widePoly(ctx, c.lab, part, w)
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
		op, err := c.lab.wideOperator(ctx, s.n, s.d, w)
		if err != nil {
			return err
		}
		step, err := newWideStep(op, s.n)
		if err != nil {
			return err
		}
		m := &match{
			ratio: Ratio{Suite: "wide", Case: wideName(s, w), N: s.n, D: s.d, K: wideColumns, Workers: w, Level: level(), PeerN: few},
			k:     wideColumns,
			// Half of eta times the range of x, which is 1, and float32.
			most: same.Certificate().RowMax/2 + maxDifference,
			ours: step.run,
			differ: func(file string) (float64, error) {
				theirs, err := readFloats(file, few*wideColumns)
				if err != nil {
					return 0, err
				}
				worst := 0.0
				for e, v := range theirs {
					worst = max(worst, math.Abs(float64(v)-float64(check.dst.Data[e]))) // max keeps a NaN
				}
				return worst, nil
			},
		}
		err = c.play(ctx, m, rivals, func(round int) float64 {
			return from + span*(float64(i)+float64(round)/float64(c.rounds))/float64(len(counts))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
