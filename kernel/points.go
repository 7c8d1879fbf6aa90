package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/par"
)

// pointSet is a read-only view of n points in d dimensions, given in float32 or
// in float64. Distances are always computed in float64 from the given values.
type pointSet struct {
	n, d   int
	single block[float32] // one of the two has data
	double block[float64]
	lo, hi []float64 // bounding box
	radius float64   // largest distance from its centre in many dimensions, else +Inf
}

func points32(p blas32.General, set *par.Set) (*pointSet, error) {
	pts := &pointSet{n: p.Rows, d: p.Cols, single: block32(p)}
	return pts, inspect(pts, pts.single, set)
}

func points64(p blas64.General, set *par.Set) (*pointSet, error) {
	pts := &pointSet{n: p.Rows, d: p.Cols, double: block64(p)}
	return pts, inspect(pts, pts.double, set)
}

// inspectBlocks are inspected on their own, at most.
const inspectBlocks = 64

// inspect validates the points and finds their bounding box.
func inspect[T float](p *pointSet, b block[T], set *par.Set) error {
	if err := b.check("points"); err != nil {
		return err
	}
	if uint64(b.rows) >= math.MaxUint32 {
		return fmt.Errorf("kernel: points: %w: %d rows, want fewer than 2^32-1", ErrShape, b.rows)
	}
	size := max(par.Blocks(b.rows, inspectBlocks), 256)
	blocks := par.Blocks(b.rows, size)
	var lo, hi [inspectBlocks][]T
	var errs [inspectBlocks]error
	if err := set.Do(context.Background(), blocks, par.Func(func(_, i int) {
		from, to := par.Block(i, b.rows, size)
		lo[i], hi[i], errs[i] = b.box(from, to)
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
			p.lo[c], p.hi[c] = min(p.lo[c], float64(lo[i][c])), max(p.hi[c], float64(hi[i][c]))
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
	err := set.Do(context.Background(), blocks, par.Func(func(_, i int) {
		from, to := par.Block(i, b.rows, size)
		for row := from; row < to; row++ {
			farthest[i] = max(farthest[i], distanceFrom(centre, b.row(row)))
		}
	}))
	p.radius = math.Sqrt(slices.Max(farthest[:]))
	return err
}

// box returns the bounds of the rows from to to-1, all of which must be finite.
func (b block[T]) box(from, to int) (lo, hi []T, err error) {
	lo, hi = slices.Clone(b.row(from)), slices.Clone(b.row(from))
	for c, v := range lo {
		if v-v != 0 {
			return nil, nil, &NonFiniteError{What: "points", Row: from, Col: c}
		}
	}
	for i := from + 1; i < to; i++ {
		row := b.row(i)
		lo, hi := lo[:len(row)], hi[:len(row)]
		for c, v := range row {
			if v >= lo[c] && v <= hi[c] {
				continue
			}
			if v-v != 0 {
				return nil, nil, &NonFiniteError{What: "points", Row: i, Col: c}
			}
			lo[c], hi[c] = min(lo[c], v), max(hi[c], v)
		}
	}
	return lo, hi, nil
}

// distanceFrom returns the squared distance of a row from a centre.
func distanceFrom[T float](centre []float64, row []T) float64 {
	var s0, s1, s2, s3 float64
	centre = centre[:len(row)]
	c := 0
	for ; c+4 <= len(row); c += 4 {
		x, y := (*[4]T)(row[c:]), (*[4]float64)(centre[c:])
		e0, e1, e2, e3 := float64(x[0])-y[0], float64(x[1])-y[1], float64(x[2])-y[2], float64(x[3])-y[3]
		s0, s1, s2, s3 = s0+e0*e0, s1+e1*e1, s2+e2*e2, s3+e3*e3
	}
	for ; c < len(row); c++ {
		e := float64(row[c]) - centre[c]
		s0 += e * e
	}
	return s0 + s1 + s2 + s3
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
