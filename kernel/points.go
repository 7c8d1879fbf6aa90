package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/simd"
)

func points32(p blas32.General, k *simd.Kernels, workers *par.Workers) (*rows.Points, error) {
	b := rows.View32(p)
	pts := &rows.Points{N: p.Rows, D: p.Cols, Single: b}
	return pts, inspect(pts, b, workers,
		func(lo, hi, row []float32) bool {
			if !k.Finite(row) {
				return false
			}
			k.GrowBox(lo, hi, row)
			return true
		},
		func(centre []float64, from, to int) (most float64) {
			single := make([]float32, len(centre))
			for c, v := range centre {
				single[c] = float32(v)
			}
			const together = 64
			var index [together]uint32
			var d2 [together]float64
			for ; from < to; from += together {
				rows := min(together, to-from)
				for i := range rows {
					index[i] = uint32(from + i)
				}
				k.SqDists64(d2[:], single, simd.RowsOf(b.Data, b.Stride), index[:rows])
				most = max(most, slices.Max(d2[:rows]))
			}
			return most
		})
}

func points64(p blas64.General, workers *par.Workers) (*rows.Points, error) {
	b := rows.View64(p)
	pts := &rows.Points{N: p.Rows, D: p.Cols, Double: b}
	return pts, inspect(pts, b, workers,
		func(lo, hi, row []float64) bool {
			for c, v := range row {
				if v >= lo[c] && v <= hi[c] {
					continue
				}
				if v-v != 0 {
					return false
				}
				lo[c], hi[c] = min(lo[c], v), max(hi[c], v)
			}
			return true
		},
		func(centre []float64, from, to int) (most float64) {
			for i := from; i < to; i++ {
				most = max(most, rows.Dist2(centre, b.Row(i)))
			}
			return most
		})
}

// inspectBlocks are inspected on their own, at most.
const inspectBlocks = 64

// inspect validates the points and finds their bounding box. It is given functions that
// widen a box by a row, or boxes by as many in one, or say that it is not finite, and
// that return the largest squared distance of the rows from to to-1 from a centre, or
// from one next to it.
func inspect[T rows.Float](p *rows.Points, b rows.View[T], workers *par.Workers, widen func(lo, hi, row []T) bool, farthestOf func(centre []float64, from, to int) float64) error {
	if err := checkShape("points", b); err != nil {
		return err
	}
	if uint64(b.Rows) >= math.MaxUint32 {
		return fmt.Errorf("kernel: points: %w: %d rows, want fewer than 2^32-1", ErrShape, b.Rows)
	}
	size := max(par.Blocks(b.Rows, inspectBlocks), 256)
	blocks := par.Blocks(b.Rows, size)
	together := 1
	if b.Stride == b.Cols && b.Cols <= maxDirect {
		together = 16 // short rows with nothing between them are one long one
	}
	var lo, hi [inspectBlocks][]T
	var errs [inspectBlocks]error
	if err := workers.Do(context.Background(), blocks, par.Func(func(_, i int) {
		from, to := par.Block(i, b.Rows, size)
		lo[i], hi[i] = make([]T, together*b.Cols), make([]T, together*b.Cols)
		for c := range lo[i] {
			lo[i][c], hi[i][c] = T(math.Inf(1)), T(math.Inf(-1))
		}
		for row := from; row < to; row += together {
			run := b.Data[row*b.Stride:][:min(together, to-row)*b.Cols]
			if !widen(lo[i], hi[i], run) {
				at := slices.IndexFunc(run, func(v T) bool { return v-v != 0 })
				errs[i] = &points.NonFiniteError{What: "points", Row: row + at/b.Cols, Col: at % b.Cols}
				return
			}
		}
	})); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("kernel: %w", err)
		}
	}
	p.Lo, p.Hi = make([]float64, b.Cols), make([]float64, b.Cols)
	for c := range b.Cols {
		p.Lo[c], p.Hi[c] = math.Inf(1), math.Inf(-1)
		for i := range blocks {
			for at := c; at < len(lo[i]); at += b.Cols {
				p.Lo[c], p.Hi[c] = min(p.Lo[c], float64(lo[i][at])), max(p.Hi[c], float64(hi[i][at]))
			}
		}
	}
	p.Radius = math.Inf(1)
	if b.Cols <= maxDirect {
		return nil
	}
	centre := make([]float64, b.Cols)
	for c := range centre {
		centre[c] = p.Lo[c] + (p.Hi[c]-p.Lo[c])/2
	}
	var farthest [inspectBlocks]float64
	err := workers.Do(context.Background(), blocks, par.Func(func(_, i int) {
		from, to := par.Block(i, b.Rows, size)
		farthest[i] = farthestOf(centre, from, to)
	}))
	p.Radius = math.Sqrt(slices.Max(farthest[:]))
	return err
}

// checkBandwidth refuses a bandwidth with which exponents would overflow.
func checkBandwidth(p *rows.Points, b Bandwidth) error {
	if err := b.Check(); err != nil {
		return err
	}
	if e := b.Gamma() * p.Extent2(); math.IsInf(e, 0) || math.IsNaN(e) {
		return fmt.Errorf("kernel: %w: %v overflows on points of extent %.3g", ErrBandwidth, b, math.Sqrt(p.Extent2()))
	}
	return nil
}
