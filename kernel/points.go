package kernel

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
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

func points32(p blas32.General) (*pointSet, error) {
	pts := &pointSet{n: p.Rows, d: p.Cols, single: block32(p)}
	return pts, inspect(pts, pts.single)
}

func points64(p blas64.General) (*pointSet, error) {
	pts := &pointSet{n: p.Rows, d: p.Cols, double: block64(p)}
	return pts, inspect(pts, pts.double)
}

// inspect validates the points and finds their bounding box.
func inspect[T float](p *pointSet, b block[T]) error {
	if err := b.check("points"); err != nil {
		return err
	}
	if uint64(b.rows) >= math.MaxUint32 {
		return fmt.Errorf("kernel: points: %w: %d rows, want fewer than 2^32-1", ErrShape, b.rows)
	}
	p.lo, p.hi = make([]float64, b.cols), make([]float64, b.cols)
	lo, hi := slices.Clone(b.row(0)), slices.Clone(b.row(0))
	for i := range b.rows {
		for c, v := range b.row(i) {
			if v < lo[c] {
				lo[c] = v
			}
			if v > hi[c] {
				hi[c] = v
			}
			if v-v != 0 {
				return fmt.Errorf("kernel: %w", &NonFiniteError{What: "points", Row: i, Col: c})
			}
		}
	}
	for c := range lo {
		p.lo[c], p.hi[c] = float64(lo[c]), float64(hi[c])
	}
	p.radius = math.Inf(1)
	if b.cols > maxDirect {
		p.radius = radiusAround(p, b)
	}
	return nil
}

// radiusAround returns the largest distance of a point from the centre of the box.
func radiusAround[T float](p *pointSet, b block[T]) float64 {
	most := 0.0
	for i := range b.rows {
		sum := 0.0
		for c, v := range b.row(i) {
			e := float64(v) - (p.lo[c] + (p.hi[c]-p.lo[c])/2)
			sum += e * e
		}
		most = max(most, sum)
	}
	return math.Sqrt(most)
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
