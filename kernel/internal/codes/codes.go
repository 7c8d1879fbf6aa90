package codes

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// codes are the codes of some points: vectors of small integers, no farther apart than
// the points, up to rounding.
//
// A projection takes a point x to a vector z of at most depth numbers with
//
//	|z - z'| <= |x - x'|    for any two points,
//
// and the code of x is q = z/unit rounded to bytes from -127 to 127. The slack e of the
// point bounds, in units, what this and all other rounding takes away from z:
// |z/unit - q| <= e. So points at a distance of at most r have
//
//	|q - q'| <= r/unit + e + e'                                          (1)
//
// and pairs for which (1) does not hold need no further look.
type codes struct {
	depth  int       // entries of a code
	unit   float64   // of the entries
	code   []int8    // q of point i begins at i*depth
	norm2  []int32   // |q|^2 of each point
	sum    []int32   // sum of the entries of q of each point
	slack  []float64 // e of each point, rounded up
	widest float64   // the largest slack
}

// newCodes returns memory for the codes of n points.
func newCodes(n, depth int, unit float64) *codes {
	return &codes{
		depth: depth, unit: unit, code: make([]int8, n*depth),
		norm2: make([]int32, n), sum: make([]int32, n), slack: make([]float64, n),
	}
}

// codeBytes is the bytes that codes take for a point.
func codeBytes(depth int) int64 { return int64(depth) + 4 + 4 + 8 }

// row returns the code of point i.
func (c *codes) row(i int) []int8 { return c.code[i*c.depth:][:c.depth] }

// measure sets the norm and the sum of the code of point i.
func (c *codes) measure(i int) {
	c.norm2[i], c.sum[i] = 0, 0
	for _, v := range c.row(i) {
		c.norm2[i] += int32(v) * int32(v)
		c.sum[i] += int32(v)
	}
}

// Adding toInteger and taking it away again rounds a float64 to an integer.
const toInteger = 0x1.8p52

// roundVector makes the code of point i from z. The error of z is at most lost.
func (c *codes) roundVector(i int, z []float64, lost float64) {
	inverse, code := 1/c.unit, c.row(i)
	clear(code[len(z):])
	code = code[:len(z)]
	missed, size := 0.0, 0.0
	norm2, sum := int32(0), int32(0)
	for t, v := range z {
		v = float64(v * inverse)
		q := v
		if q > 127 {
			q = 127
		} else if q < -127 {
			q = -127
		}
		q = (q + toInteger) - toInteger
		e := v - q
		missed += float64(e * e)
		size += float64(v * v)
		n := int32(q)
		code[t] = int8(n)
		norm2 += n * n
		sum += n
	}
	c.norm2[i], c.sum[i] = norm2, sum
	// tiny bounds the rounding of the sums above and of z/unit itself.
	tiny := float64(len(z)+64) * 0x1p-50
	c.slack[i] = bounded((math.Sqrt(missed)+lost*inverse)*(1+tiny) + tiny*math.Sqrt(size))
}

// roundRow makes the code of point i from all its coordinates, without a projection.
func (c *codes) roundRow(i int, row, centre []float32, k *simd.Kernels) {
	code := c.row(i)
	clear(code[len(row):])
	missed, norm2, sum := k.RoundToBytes(code[:len(row)], row, centre, 1/c.unit)
	c.norm2[i], c.sum[i] = norm2, sum
	// Rounding as in roundVector. z/unit is no longer than its code and what the code misses.
	off, tiny := math.Sqrt(missed), float64(len(row)+64)*0x1p-50
	c.slack[i] = bounded(off*(1+2*tiny) + 2*tiny*math.Sqrt(float64(norm2)))
}

// bounded returns v, or a large number where v is larger or not a number. As a reach or a
// slack the large number means the same as anything larger, and sums and squares of it
// are finite: no two codes are farther apart than 254 sqrt(4096).
func bounded(v float64) float64 {
	const all = 1 << 15
	if v < all {
		return v
	}
	return all // also where v is not a number
}

// distance returns |q - q'|, rounded up, of the code q of point i and another code q'.
func (c *codes) distance(i int, code []int8) float64 {
	sum := int64(0)
	for t, v := range c.row(i) {
		e := int64(v) - int64(code[t])
		sum += e * e
	}
	return math.Sqrt(float64(sum)) * (1 + 0x1p-50)
}

// enclose makes code i of c the middle of the codes lo to hi-1 of of, and the slack of
// code i the radius of the ball around them.
func (c *codes) enclose(i int, of *codes, lo, hi int) {
	sums := make([]int64, c.depth)
	for j := lo; j < hi; j++ {
		for t, v := range of.row(j) {
			sums[t] += int64(v)
		}
	}
	centre := c.row(i)
	for t, v := range sums {
		centre[t] = int8(math.RoundToEven(float64(v) / float64(hi-lo)))
	}
	c.measure(i)
	for j := lo; j < hi; j++ {
		c.slack[i] = max(c.slack[i], bounded(of.distance(j, centre)+of.slack[j]))
	}
}

// permute puts codes in another order: code i is then what code order[i] was. It moves them
// along the cycles of the order, which takes no second copy of them.
func (c *codes) permute(order []uint32) {
	moved := make([]bool, len(order))
	kept := make([]int8, c.depth)
	for first := range order {
		if moved[first] {
			continue
		}
		copy(kept, c.row(first))
		norm2, sum, slack := c.norm2[first], c.sum[first], c.slack[first]
		at := first
		for from := int(order[at]); from != first; from = int(order[at]) {
			copy(c.row(at), c.row(from))
			c.norm2[at], c.sum[at], c.slack[at] = c.norm2[from], c.sum[from], c.slack[from]
			moved[at] = true
			at = from
		}
		copy(c.row(at), kept)
		c.norm2[at], c.sum[at], c.slack[at] = norm2, sum, slack
		moved[at] = true
	}
}

// A reach turns one question into another. The first question is whether two codes are
// near,
//
//	|q - q'| <= a + b,
//
// with a reach a of the first code and b of the second. The other question is the one that
// simd.ByteDotsAbove answers, whether q.q' + bias(q', b) >= threshold(q, a). The first
// question squared is
//
//	q.q' >= (|q|^2 - a^2)/2 + (|q'|^2 - 2ab - b^2)/2.
//
// All but 2ab is a term of one code or of the other; and 2ab is at most
//
//	2 usual b + 2 max(a - usual, 0) most    for b <= most
//
// which is sharp for a = usual. Most reaches a should be near usual. Terms are rounded so
// that no pair is lost: the bias up, the threshold down.
type reach struct {
	usual float64 // a typical reach of the first code
	most  float64 // the largest reach of the second code
}

// Products of codes are below 2^26 in size at the largest depth, 4096. With a term of
// farTerm every column is near, and a column with the bias padBias never is.
const (
	farTerm = 1 << 29
	padBias = -1 << 30
)

// threshold returns the threshold of a code with the given squared norm, sum of entries
// and reach a. ByteDotsAbove works with q'+128 in place of q'.
func (r reach) threshold(norm2, sum int32, a float64) int32 {
	near := (a*a + 2*max(a-r.usual, 0)*r.most) * (1 + 0x1p-48)
	return int32(math.Floor((float64(norm2)-min(math.Ceil(near), farTerm))/2)) + 128*sum
}

// bias returns the bias of a code with the given squared norm and reach b.
func (r reach) bias(norm2 int32, b float64) int32 {
	near := (2*r.usual*b + b*b) * (1 + 0x1p-48)
	return int32(min(math.Ceil(near/2), farTerm)) - norm2/2
}

// biases sets the biases of codes with the given squared norms and reaches b. Columns
// behind these codes are padding.
func (r reach) biases(dst, norm2 []int32, b []float64) {
	for i, n2 := range norm2 {
		dst[i] = r.bias(n2, b[i])
	}
	for i := len(norm2); i < len(dst); i++ {
		dst[i] = padBias
	}
}

// threshold returns the threshold of point i for points within a radius, in units.
func (c *codes) threshold(r reach, i int, radius float64) int32 {
	return r.threshold(c.norm2[i], c.sum[i], bounded(radius+c.slack[i]))
}

// panel lays the codes lo to hi-1 out for simd.ByteDotsAbove, panelColumns columns at a
// time.
func (c *codes) panel(dst []uint8, lo, hi int) {
	simd.PackBytes(dst, c.code[lo*c.depth:hi*c.depth], c.depth)
}

// panelColumns is the number of columns that simd.ByteDotsAbove compares at a time.
const panelColumns = 64

// A codeReach is the reach of a search within a radius, by some codes.
type codeReach struct {
	reach
	radius float64 // in units of the codes
}

// searchReach returns the reach of points whose distance by rows.Dist2 may be within the
// radius. The relative error of rows.Dist2 is (d + 2) 2^-53, less than 2^-30 for any d.
func searchReach(c *codes, radius float64) codeReach {
	r := bounded(radius * (1 + 0x1p-30) / c.unit)
	return codeReach{reach{usual: bounded(r + quantile(c.slack, 0.9)), most: c.widest}, r}
}
