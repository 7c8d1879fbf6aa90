package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/simd"
)

// pointSet is a read-only view of n points in d dimensions, given in float32 or
// in float64. Every decision rests on distances in float64 of the given values.
type pointSet struct {
	n, d   int
	single block[float32] // one of the two has data
	double block[float64]
	lo, hi []float64 // bounding box
	radius float64   // largest distance from its centre in many dimensions, else +Inf
}

func points32(p blas32.General, k *simd.Kernels, workers *par.Workers) (*pointSet, error) {
	b := block32(p)
	pts := &pointSet{n: p.Rows, d: p.Cols, single: b}
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
				k.SqDists64(d2[:], single, simd.RowsOf(b.data, b.stride), index[:rows])
				most = max(most, slices.Max(d2[:rows]))
			}
			return most
		})
}

func points64(p blas64.General, workers *par.Workers) (*pointSet, error) {
	b := block64(p)
	pts := &pointSet{n: p.Rows, d: p.Cols, double: b}
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
				most = max(most, dist2(centre, b.row(i)))
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
func inspect[T float](p *pointSet, b block[T], workers *par.Workers, widen func(lo, hi, row []T) bool, farthestOf func(centre []float64, from, to int) float64) error {
	if err := b.check("points"); err != nil {
		return err
	}
	if uint64(b.rows) >= math.MaxUint32 {
		return fmt.Errorf("kernel: points: %w: %d rows, want fewer than 2^32-1", ErrShape, b.rows)
	}
	size := max(par.Blocks(b.rows, inspectBlocks), 256)
	blocks := par.Blocks(b.rows, size)
	together := 1
	if b.stride == b.cols && b.cols <= maxDirect {
		together = 16 // short rows with nothing between them are one long one
	}
	var lo, hi [inspectBlocks][]T
	var errs [inspectBlocks]error
	if err := workers.Do(context.Background(), blocks, par.Func(func(_, i int) {
		from, to := par.Block(i, b.rows, size)
		lo[i], hi[i] = make([]T, together*b.cols), make([]T, together*b.cols)
		for c := range lo[i] {
			lo[i][c], hi[i][c] = T(math.Inf(1)), T(math.Inf(-1))
		}
		for row := from; row < to; row += together {
			run := b.data[row*b.stride:][:min(together, to-row)*b.cols]
			if !widen(lo[i], hi[i], run) {
				at := slices.IndexFunc(run, func(v T) bool { return v-v != 0 })
				errs[i] = &points.NonFiniteError{What: "points", Row: row + at/b.cols, Col: at % b.cols}
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
	p.lo, p.hi = make([]float64, b.cols), make([]float64, b.cols)
	for c := range b.cols {
		p.lo[c], p.hi[c] = math.Inf(1), math.Inf(-1)
		for i := range blocks {
			for at := c; at < len(lo[i]); at += b.cols {
				p.lo[c], p.hi[c] = min(p.lo[c], float64(lo[i][at])), max(p.hi[c], float64(hi[i][at]))
			}
		}
	}
	p.radius = math.Inf(1)
	if b.cols <= maxDirect {
		return nil
	}
	centre := make([]float64, b.cols)
	for c := range centre {
		centre[c] = p.lo[c] + (p.hi[c]-p.lo[c])/2
	}
	var farthest [inspectBlocks]float64
	err := workers.Do(context.Background(), blocks, par.Func(func(_, i int) {
		from, to := par.Block(i, b.rows, size)
		farthest[i] = farthestOf(centre, from, to)
	}))
	p.radius = math.Sqrt(slices.Max(farthest[:]))
	return err
}

// extent2 returns the squared diagonal of the bounding box: no squared
// distance is larger.
func (p *pointSet) extent2() float64 {
	sum := 0.0
	for c := range p.lo {
		e := p.hi[c] - p.lo[c]
		sum += e * e
	}
	return sum
}

// farthest returns a distance no two points exceed, as dist2 computes it: the
// diagonal of the box, or in many dimensions, where points are nowhere near its
// corners, the diameter of the ball around its centre.
func (p *pointSet) farthest() float64 {
	return min(math.Sqrt(p.extent2()), 2*p.radius) * (1 + float64(p.d+8)*0x1p-51)
}

// checkBandwidth refuses a bandwidth with which exponents would overflow.
func (p *pointSet) checkBandwidth(b Bandwidth) error {
	if err := b.Check(); err != nil {
		return err
	}
	if e := b.Gamma() * p.extent2(); math.IsInf(e, 0) || math.IsNaN(e) {
		return fmt.Errorf("kernel: %w: %v overflows on points of extent %.3g", ErrBandwidth, b, math.Sqrt(p.extent2()))
	}
	return nil
}

// column sets dst to coordinate c of some rows, exactly. It does nothing else with
// them: rows come from anywhere in memory, and what is done with a number would keep
// the next ones from being fetched.
func (p *pointSet) column(dst []float64, rows []uint32, c int) {
	dst = dst[:len(rows)]
	if p.double.data != nil {
		for i, row := range rows {
			dst[i] = p.double.data[int(row)*p.double.stride+c]
		}
		return
	}
	data, stride := p.single.data, p.single.stride
	for i, row := range rows {
		dst[i] = float64(data[int(row)*stride+c])
	}
}

// copyRow copies row i to dst, exactly.
func (p *pointSet) copyRow(dst []float64, i int) {
	if p.double.data != nil {
		copy(dst, p.double.row(i))
		return
	}
	for c, v := range p.single.row(i) {
		dst[c] = float64(v)
	}
}

// dist2 returns the squared distance of rows i and j by differences, which
// knows no cancellation: its relative error is at most (d+2) 2^-53.
func (p *pointSet) dist2(i, j int) float64 {
	if p.double.data != nil {
		return dist2(p.double.row(i), p.double.row(j))
	}
	return dist2(p.single.row(i), p.single.row(j))
}

// dist2 is the squared distance every decision rests on. The conversion around
// the product keeps compilers from fusing it into the sum, so that all
// architectures agree on every bit.
func dist2[T float](a, b []T) float64 {
	sum := 0.0
	b = b[:len(a)]
	for c, v := range a {
		e := float64(v) - float64(b[c])
		sum += float64(e * e)
	}
	return sum
}

// radiusSquared returns the largest float64 whose square root is at most r:
// comparing a squared distance with it decides sqrt(d2) <= r exactly, which
// comparing with r*r does not.
func radiusSquared(r float64) float64 {
	r2 := r * r
	for math.Sqrt(r2) > r {
		r2 = math.Nextafter(r2, 0)
	}
	for {
		next := math.Nextafter(r2, math.Inf(1))
		if math.Sqrt(next) > r || math.IsInf(next, 1) {
			return r2
		}
		r2 = next
	}
}
