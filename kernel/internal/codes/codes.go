package codes

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// codes are points rounded to small integers, in a space in which no two of them
// are farther apart than they are.
//
// A projection takes a point x to a vector z of at most depth numbers with
//
//	|z - z'| <= |x - x'|    for any two points,
//
// and a code is q = z/unit rounded to bytes from -127 to 127. What that and all
// other rounding takes away from z is bounded by the slack e of the point, in
// units: |z/unit - q| <= e. So points at a distance of at most r have
//
//	|q - q'| <= r/unit + e + e'                                          (1)
//
// and pairs for which this does not hold need no further look.
type codes struct {
	depth  int
	unit   float64
	code   []int8    // of point i at i*depth
	norm2  []int32   // |q|^2
	sum    []int32   // of the entries of q
	slack  []float64 // e, rounded up
	widest float64   // the largest slack
}

func newCodes(n, depth int, unit float64) *codes {
	return &codes{
		depth: depth, unit: unit, code: make([]int8, n*depth),
		norm2: make([]int32, n), sum: make([]int32, n), slack: make([]float64, n),
	}
}

// codeBytes is the memory of the codes of a point.
func codeBytes(depth int) int64 { return int64(depth) + 4 + 4 + 8 }

// row returns the code of point i.
func (c *codes) row(i int) []int8 { return c.code[i*c.depth:][:c.depth] }

// measure sets what follows from the code of point i.
func (c *codes) measure(i int) {
	c.norm2[i], c.sum[i] = 0, 0
	for _, v := range c.row(i) {
		c.norm2[i] += int32(v) * int32(v)
		c.sum[i] += int32(v)
	}
}

// Adding toInteger and taking it away again rounds a float64 to an integer.
const toInteger = 0x1.8p52

// roundVector makes the code of point i from z, of which lost bounds the error.
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
	// Rounding in the sums above, and that of z/unit itself.
	tiny := float64(len(z)+64) * 0x1p-50
	c.slack[i] = bounded((math.Sqrt(missed)+lost*inverse)*(1+tiny) + tiny*math.Sqrt(size))
}

// roundRow makes the code of point i from its coordinates.
func (c *codes) roundRow(i int, row, centre []float32, k *simd.Kernels) {
	code := c.row(i)
	clear(code[len(row):])
	missed, norm2, sum := k.RoundToBytes(code[:len(row)], row, centre, 1/c.unit)
	c.norm2[i], c.sum[i] = norm2, sum
	// Rounding as in roundVector; z/unit is no longer than its code and what that misses.
	off, tiny := math.Sqrt(missed), float64(len(row)+64)*0x1p-50
	c.slack[i] = bounded(off*(1+2*tiny) + 2*tiny*math.Sqrt(float64(norm2)))
}

// bounded returns a reach or slack that means the same and with which one can
// calculate: no two codes are farther apart than 254 sqrt(4096).
func bounded(v float64) float64 {
	const all = 1 << 15
	if v < all {
		return v
	}
	return all // also where it is not a number
}

// distance returns |q - q'| of point i and a code, rounded up.
func (c *codes) distance(i int, code []int8) float64 {
	sum := int64(0)
	for t, v := range c.row(i) {
		e := int64(v) - int64(code[t])
		sum += e * e
	}
	return math.Sqrt(float64(sum)) * (1 + 0x1p-50)
}

// enclose makes code i the middle of the codes lo to hi-1 of c, and its slack the
// radius around them.
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

// permuted returns the codes of the points in another order.
func (c *codes) permuted(ctx context.Context, order []uint32, workers *par.Workers) (*codes, error) {
	out := newCodes(len(order), c.depth, c.unit)
	out.widest = c.widest
	const rowsPerPiece = 256
	err := workers.Do(ctx, par.Blocks(len(order), rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, len(order), rowsPerPiece)
		for i := lo; i < hi; i++ {
			from := int(order[i])
			copy(out.row(i), c.row(from))
			out.norm2[i], out.sum[i], out.slack[i] = c.norm2[from], c.sum[from], c.slack[from]
		}
	}))
	return out, err
}

// A reach turns the question whether two codes are near,
//
//	|q - q'| <= a + b,
//
// with a reach a of the first and b of the second, into that of simd.ByteDotsAbove,
// whether q.q' + bias(q', b) >= threshold(q, a). Squared it is
//
//	q.q' >= (|q|^2 - a^2)/2 + (|q'|^2 - 2ab - b^2)/2.
//
// All but 2ab is a term of one side or of the other; and 2ab is at most
//
//	2 usual b + 2 max(a - usual, 0) most    for b <= most
//
// which is sharp for a = usual, where most a should be. Terms are rounded so that no
// pair is lost: the bias up, the threshold down.
type reach struct {
	usual, most float64
}

// Products of codes are below 2^26 in size, at the largest depth, 4096: with a term
// of 2^29 every column is near. A column of padding never is.
const (
	farTerm = 1 << 29
	padBias = -1 << 30
)

// threshold returns that of a code with the given sum of entries. ByteDotsAbove works with
// q'+128 in place of q'.
func (r reach) threshold(norm2, sum int32, a float64) int32 {
	near := (a*a + 2*max(a-r.usual, 0)*r.most) * (1 + 0x1p-48)
	return int32(math.Floor((float64(norm2)-min(math.Ceil(near), farTerm))/2)) + 128*sum
}

// bias returns that of a code.
func (r reach) bias(norm2 int32, b float64) int32 {
	near := (2*r.usual*b + b*b) * (1 + 0x1p-48)
	return int32(min(math.Ceil(near/2), farTerm)) - norm2/2
}

// biases sets those of codes with the given norms and reaches. Columns behind them are
// padding.
func (r reach) biases(dst, norm2 []int32, b []float64) {
	for i, n2 := range norm2 {
		dst[i] = r.bias(n2, b[i])
	}
	for i := len(norm2); i < len(dst); i++ {
		dst[i] = padBias
	}
}

// threshold returns that of point i with a radius around it, in units.
func (c *codes) threshold(r reach, i int, radius float64) int32 {
	return r.threshold(c.norm2[i], c.sum[i], bounded(radius+c.slack[i]))
}

// panel lays codes out for ByteDotsAbove, 64 columns at a time.
func (c *codes) panel(dst []uint8, lo, hi int) {
	simd.PackBytes(dst, c.code[lo*c.depth:hi*c.depth], c.depth)
}

// panelColumns is the number of columns of a panel.
const panelColumns = 64

// codeReach is the reach of a radius, in units of some codes.
type codeReach struct {
	reach
	radius float64
}

// searchReach returns the reach of points whose distance by dist2 may be within the
// radius: that is off by (d + 2) 2^-53 of itself, less than 2^-30 for any d.
func searchReach(c *codes, radius float64) codeReach {
	r := bounded(radius * (1 + 0x1p-30) / c.unit)
	return codeReach{reach{usual: bounded(r + quantile(c.slack, 0.9)), most: c.widest}, r}
}
