package base

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Points32 opens points: it refuses numbers that are not finite, and finds their box.
func Points32(ctx context.Context, p blas32.General, o *Options) (*rows.Points, error) {
	b := rows.View32(p)
	pts := &rows.Points{N: p.Rows, D: p.Cols, Single: b}
	k := o.Kernels
	in := &inspection[float32]{
		p: pts, b: b, workers: o.Workers, ranks: o.Ranks,
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
	return pts, in.run(ctx)
}

// Points64 is Points32 for points in float64.
func Points64(ctx context.Context, p blas64.General, o *Options) (*rows.Points, error) {
	b := rows.View64(p)
	pts := &rows.Points{N: p.Rows, D: p.Cols, Double: b}
	in := &inspection[float64]{
		p: pts, b: b, workers: o.Workers, ranks: o.Ranks,
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
	return pts, in.run(ctx)
}

// An inspection validates points and finds their bounding box, piece by piece. Ranks share the
// pieces.
type inspection[T rows.Float] struct {
	p       *rows.Points
	b       rows.View[T]
	workers *par.Workers
	ranks   *par.Ranks
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

func (in *inspection[T]) run(ctx context.Context) error {
	if err := CheckShape("points", in.b); err != nil {
		return err
	}
	if uint64(in.b.Rows) >= math.MaxUint32 {
		return fmt.Errorf("kernel: points: %w: %d rows, want fewer than 2^32-1", ErrShape, in.b.Rows)
	}
	in.size = max(split.Blocks(in.b.Rows, inspectPieces), 256)
	if err := in.findBox(ctx); err != nil {
		return err
	}
	in.p.Radius = math.Inf(1)
	if in.b.Cols <= MaxDirect {
		return nil
	}
	return in.findRadius(ctx)
}

// do lets workers do the pieces of this rank. A look at the points is short: no context ends it.
func (in *inspection[T]) do(task func(piece int)) error {
	first, end := in.ranks.Part(split.Blocks(in.b.Rows, in.size))
	return in.workers.Do(context.Background(), end-first, par.Func(func(_, i int) { task(first + i) }))
}

// findBox sets the bounding box, and refuses numbers that are not finite.
func (in *inspection[T]) findBox(ctx context.Context) error {
	b, together := in.b, 1
	if b.Stride == b.Cols && b.Cols <= MaxDirect {
		together = 16 // short rows with nothing between them are one long one
	}
	var lo, hi [inspectPieces][]T
	var bad [inspectPieces]int // 1 more than the number of the first entry of a piece that is not finite
	if err := in.do(func(i int) {
		from, to := split.Block(i, b.Rows, in.size)
		lo[i], hi[i] = make([]T, together*b.Cols), make([]T, together*b.Cols)
		for c := range lo[i] {
			lo[i][c], hi[i][c] = T(math.Inf(1)), T(math.Inf(-1))
		}
		for row := from; row < to; row += together {
			run := b.Data[row*b.Stride:][:min(together, to-row)*b.Cols]
			if !in.widen(lo[i], hi[i], run) {
				bad[i] = row*b.Cols + slices.IndexFunc(run, func(v T) bool { return v-v != 0 }) + 1
				return
			}
		}
	}); err != nil {
		return err
	}
	own := newBox(b.Cols)
	for i := range lo {
		for at := range lo[i] {
			own.widen(at%b.Cols, float64(lo[i][at]), float64(hi[i][at]))
		}
	}
	all, entry, err := in.gatherBox(ctx, own, firstOf(bad[:]))
	if err != nil {
		return err
	}
	if entry > 0 {
		return fmt.Errorf("kernel: %w", &points.NonFiniteError{What: "points", Row: (entry - 1) / b.Cols, Col: (entry - 1) % b.Cols})
	}
	in.p.Lo, in.p.Hi = all.lo, all.hi
	return nil
}

// A box is a range along each axis.
type box struct{ lo, hi []float64 }

// newBox returns a box without a point.
func newBox(d int) box {
	b := box{make([]float64, d), make([]float64, d)}
	for c := range d {
		b.lo[c], b.hi[c] = math.Inf(1), math.Inf(-1)
	}
	return b
}

// widen widens the range along axis c.
func (b box) widen(c int, lo, hi float64) { b.lo[c], b.hi[c] = min(b.lo[c], lo), max(b.hi[c], hi) }

// firstOf returns the first number that is not 0; 0 where there is none.
func firstOf(numbers []int) int {
	return numbers[max(slices.IndexFunc(numbers, func(n int) bool { return n != 0 }), 0)]
}

// gatherBox returns the box around the boxes of all ranks, and of the numbers that they have
// the first that is not 0.
func (in *inspection[T]) gatherBox(ctx context.Context, own box, number int) (box, int, error) {
	if in.ranks.Alone() {
		return own, number, nil
	}
	d := len(own.lo)
	words := slices.Concat(own.lo, own.hi, []float64{float64(number)}) // the number is less than 2^53
	all, err := exchange.GatherEqual(ctx, in.ranks, words)
	if err != nil {
		return own, 0, fmt.Errorf("kernel: box of all ranks: %w", err)
	}
	whole, numbers := newBox(d), make([]int, in.ranks.Size())
	for rank := range numbers {
		part := all[len(words)*rank:][:len(words)]
		for c := range d {
			whole.widen(c, part[c], part[d+c])
		}
		numbers[rank] = int(part[2*d])
	}
	return whole, firstOf(numbers), nil
}

// findRadius sets the largest distance from the centre of the box.
func (in *inspection[T]) findRadius(ctx context.Context) error {
	p, centre := in.p, make([]float64, in.b.Cols)
	for c := range centre {
		centre[c] = p.Lo[c] + (p.Hi[c]-p.Lo[c])/2
	}
	farthest := make([]float64, split.Blocks(in.b.Rows, in.size))
	if err := in.do(func(i int) {
		from, to := split.Block(i, in.b.Rows, in.size)
		farthest[i] = in.farthest(centre, from, to)
	}); err != nil {
		return err
	}
	if err := exchange.Gather(ctx, in.ranks, farthest, in.ranks.Bounds(len(farthest))); err != nil {
		return fmt.Errorf("kernel: radius of all ranks: %w", err)
	}
	p.Radius = math.Sqrt(slices.Max(farthest))
	return nil
}

// CheckBandwidth refuses a bandwidth with which exponents would overflow.
func CheckBandwidth(p *rows.Points, b Bandwidth) error {
	if err := b.Check(); err != nil {
		return err
	}
	if e := b.Gamma() * p.Extent2(); math.IsInf(e, 0) || math.IsNaN(e) {
		return fmt.Errorf("kernel: %w: %v overflows on points of extent %.3g", ErrBandwidth, b, math.Sqrt(p.Extent2()))
	}
	return nil
}
