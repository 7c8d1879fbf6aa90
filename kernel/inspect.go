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
	in := &inspection[float32]{
		p: pts, b: b, workers: workers,
		widen: func(lo, hi, row []float32) bool {
			if !k.Finite(row) {
				return false
			}
			k.GrowBox(lo, hi, row)
			return true
		},
		farthest: func(centre []float64, from, to int) (most float64) {
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
		},
	}
	return pts, in.run()
}

func points64(p blas64.General, workers *par.Workers) (*rows.Points, error) {
	b := rows.View64(p)
	pts := &rows.Points{N: p.Rows, D: p.Cols, Double: b}
	in := &inspection[float64]{
		p: pts, b: b, workers: workers,
		widen: func(lo, hi, row []float64) bool {
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
		farthest: func(centre []float64, from, to int) (most float64) {
			for i := from; i < to; i++ {
				most = max(most, rows.Dist2(centre, b.Row(i)))
			}
			return most
		},
	}
	return pts, in.run()
}

// An inspection validates points and finds their bounding box, piece by piece.
type inspection[T rows.Float] struct {
	p       *rows.Points
	b       rows.View[T]
	workers *par.Workers
	size    int // rows of a piece
	// widen widens a box by a row. It may also get several boxes and as many rows, joined
	// end to end. It returns false for a row that is not finite.
	widen func(lo, hi, row []T) bool
	// farthest returns the largest squared distance of the rows from to to-1 from a
	// centre, or from one next to it.
	farthest func(centre []float64, from, to int) float64
}

// inspectPieces is the most pieces that points are inspected in.
const inspectPieces = 64

func (in *inspection[T]) run() error {
	if err := checkShape("points", in.b); err != nil {
		return err
	}
	if uint64(in.b.Rows) >= math.MaxUint32 {
		return fmt.Errorf("kernel: points: %w: %d rows, want fewer than 2^32-1", ErrShape, in.b.Rows)
	}
	in.size = max(par.Blocks(in.b.Rows, inspectPieces), 256)
	if err := in.findBox(); err != nil {
		return err
	}
	in.p.Radius = math.Inf(1)
	if in.b.Cols <= maxDirect {
		return nil
	}
	return in.findRadius()
}

// findBox sets the bounding box, and refuses numbers that are not finite.
func (in *inspection[T]) findBox() error {
	p, b := in.p, in.b
	pieces, together := par.Blocks(b.Rows, in.size), 1
	if b.Stride == b.Cols && b.Cols <= maxDirect {
		together = 16 // short rows with nothing between them are one long one
	}
	var lo, hi [inspectPieces][]T
	var errs [inspectPieces]error
	if err := in.workers.Do(context.Background(), pieces, par.Func(func(_, i int) {
		from, to := par.Block(i, b.Rows, in.size)
		lo[i], hi[i] = make([]T, together*b.Cols), make([]T, together*b.Cols)
		for c := range lo[i] {
			lo[i][c], hi[i][c] = T(math.Inf(1)), T(math.Inf(-1))
		}
		for row := from; row < to; row += together {
			run := b.Data[row*b.Stride:][:min(together, to-row)*b.Cols]
			if !in.widen(lo[i], hi[i], run) {
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
		for i := range pieces {
			for at := c; at < len(lo[i]); at += b.Cols {
				p.Lo[c], p.Hi[c] = min(p.Lo[c], float64(lo[i][at])), max(p.Hi[c], float64(hi[i][at]))
			}
		}
	}
	return nil
}

// findRadius sets the largest distance from the centre of the box.
func (in *inspection[T]) findRadius() error {
	p, centre := in.p, make([]float64, in.b.Cols)
	for c := range centre {
		centre[c] = p.Lo[c] + (p.Hi[c]-p.Lo[c])/2
	}
	var farthest [inspectPieces]float64
	err := in.workers.Do(context.Background(), par.Blocks(in.b.Rows, in.size), par.Func(func(_, i int) {
		from, to := par.Block(i, in.b.Rows, in.size)
		farthest[i] = in.farthest(centre, from, to)
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
