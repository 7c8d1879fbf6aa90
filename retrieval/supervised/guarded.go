package supervised

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// ErrRange reports a map with numbers that are out of the range of Guard.
var ErrRange = errors.New("out of the range of a map for private rows")

// A rangeError says which number of a map is out of range. It matches ErrRange.
type rangeError struct {
	What     string // "mean", "scale" or "matrix"
	Row, Col int    // of the number
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("supervised: map: %v: the %s, row %d, column %d", ErrRange, e.What, e.Row+1, e.Col+1)
}

// Unwrap returns ErrRange.
func (e *rangeError) Unwrap() error { return ErrRange }

// The range of a guarded map.
const (
	guardedMean  = 0x1p128  // the most that a number of the mean may be
	leastMean    = 0x1p-200 // what is below it counts as 0
	guardedMost  = 0x1p160  // the most that the largest number of a scale or matrix may be
	guardedLeast = 0x1p-160 // and the least, unless all are 0
	leastShare   = 0x1p-100 // what is below this share of the largest number counts as 0
)

// leastFactor is the least factor of a product: what is smaller counts as 0, both in rows and in
// columns of the matrix, whose largest numbers are 1/2 to 1 in size.
const leastFactor = 0x1p-40

// A Guarded is a map of somebody who must not learn anything about the rows that it is applied
// to, not even from the time that this takes: the map of a server that rows are asked about
// afterwards. Its images are those of the Map, bit for bit, but for numbers that are very small
// or large against others (see Apply). It is safe for concurrent use.
//
// # Why the time tells nothing
//
// All rows go through the same steps: no branch and no place in memory depends on a number of
// theirs, and a test looks at the source for it. And no number on the way is subnormal:
// processors take many times longer for those. The argument, for any map that Guard accepts and
// any finite row:
//
//   - A row is float32. What is subnormal in it becomes 0, also after it was divided by its norm.
//     So its numbers are multiples of 2^-149 below 2^128.
//   - Numbers of the mean are 0, or 2^-200 to 2^128 in size. So in float64 the differences of a row
//     from it are multiples of 2^-252: they are 0, or 2^-252 to 2^129 in size.
//   - Numbers of a scale are 0, or 2^-260 to 2^160 in size, and so are the powers of two that
//     stand for the rows of a matrix, but for a factor of 2. Their products with the differences
//     are 0, or 2^-512 to 2^290 in size.
//   - Products with a matrix are made in float32. Each factor is 0, or 2^-40 to 1 in size, and
//     therefore a multiple of 2^-63. So products, and all sums of them in whatever order, fused or
//     not, are multiples of 2^-126, which is the least normal number, and at most 512 in size.
//   - What comes out is multiplied with powers of two in float64, and is 0, or 2^-740 to 2^315 in
//     size; numbers of one image differ by a factor of 2^500 at most.
//   - What float32 has no normal number for becomes 0, or the largest number there is.
//
// It is best effort, as far as Go goes: the compiler makes no promise, and some processors take
// other times for some quotients and roots.
type Guarded struct {
	m       *Map // a copy, with zeros for what is small
	kernels *simd.Kernels
	weights []float64 // powers of two that differences are multiplied with, one a row of the matrix
	columns []float32 // the columns of the matrix, with their numbers and weights divided out, one after the other
	inverse []float64 // powers of two that products with a column are multiplied with
}

// Guard returns a map that can be applied to private rows, whoever made it. Numbers of the mean
// below 2^-200 in size count as 0, and so do numbers of scale and matrix below 2^-100 of the
// largest.
//
// Errors are those of Map.Check, and an ErrRange for a number of the mean beyond 2^128 in size,
// and for a scale or a matrix whose largest number is not 2^-160 to 2^160 in size, unless all are
// 0.
func (m *Map) Guard() (*Guarded, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	own := *m
	g := &Guarded{m: &own, kernels: simd.At(simd.Best())}
	own.Mean = make([]float64, m.Dim)
	for j, v := range m.Mean {
		if math.Abs(v) > guardedMean {
			return nil, &rangeError{What: "mean", Col: j}
		}
		if math.Abs(v) >= leastMean {
			own.Mean[j] = v
		}
	}
	if m.Scale != nil {
		own.Scale = slices.Clone(m.Scale)
		if at := dropSmallShares(own.Scale); at >= 0 {
			return nil, &rangeError{What: "scale", Col: at}
		}
	}
	if m.A != nil {
		return g, g.balance()
	}
	return g, nil
}

// dropSmallShares makes 0 of what is below leastShare of the largest number. Where that is out of
// range it returns its place, otherwise -1.
func dropSmallShares(values []float64) (at int) {
	largest := 0.
	for i, v := range values {
		if math.Abs(v) > largest {
			largest, at = math.Abs(v), i
		}
	}
	if largest != 0 && !(largest >= guardedLeast && largest <= guardedMost) {
		return at
	}
	for i, v := range values {
		if math.Abs(v) < leastShare*largest {
			values[i] = 0
		}
	}
	return -1
}

// balance splits the matrix into powers of two for its rows, powers of two for its columns, and
// numbers of float32 whose largest in each column is 1/2 to 1 in size. Powers of two change no
// other bit of a product. Those of the rows make differences comparable: what is small then is
// small in the image, whatever the units of a feature.
func (g *Guarded) balance() error {
	d, k := g.m.Dim, g.m.Columns()
	all := make([]float64, 0, d*k)
	for i := range d {
		all = append(all, g.m.A.RawRowView(i)...)
	}
	if at := dropSmallShares(all); at >= 0 {
		return &rangeError{What: "matrix", Row: at / k, Col: at % k}
	}
	g.weights, g.columns, g.inverse = make([]float64, d), make([]float32, d*k), make([]float64, k)
	for i := range d {
		row := all[i*k:][:k]
		if most := largestOf(row, 1); most > 0 { // a row of zeros has no weight
			g.weights[i] = powerAbove(most)
			for j := range row {
				row[j] /= g.weights[i]
			}
		}
	}
	for j := range k {
		g.inverse[j] = 1
		if most := largestOf(all[j:], k); most > 0 {
			g.inverse[j] = powerAbove(most)
		}
		for i := range d {
			if v := all[i*k+j] / g.inverse[j]; math.Abs(v) >= leastFactor {
				g.columns[j*d+i] = float32(v)
			}
		}
	}
	return nil
}

// largestOf returns the largest size of every stride-th number.
func largestOf(values []float64, stride int) (most float64) {
	for i := 0; i < len(values); i += stride {
		most = max(most, math.Abs(values[i]))
	}
	return most
}

// powerAbove returns the least power of two above a size.
func powerAbove(size float64) float64 {
	_, exp := math.Frexp(size)
	return math.Ldexp(1, exp)
}

// Dim returns how many values a row has.
func (g *Guarded) Dim() int { return g.m.Dim }

// Columns returns how many values an image has.
func (g *Guarded) Columns() int { return g.m.Columns() }

// ColumnNames returns the names of the columns of rows, nil where the map has none.
func (g *Guarded) ColumnNames() []string { return g.m.ColumnNames }

// Apply returns the images of rows. They are those of Map.Apply, but for what follows. Subnormal
// numbers of rows and images are 0. Of a row, differences from the mean count as 0 where they are
// below 2^-40 of the largest of that row, each times the largest number that the matrix has for
// it; and so do, in a column of the matrix, numbers below 2^-40 of the largest. It
// never fails for what is in a finite row.
//
// Errors: kernel.ErrShape when rows do not have the map's dimension, and kernel.ErrNonFinite.
func (g *Guarded) Apply(rows blas32.General) (blas32.General, error) {
	n, err := g.m.checkRows(rows)
	if err != nil {
		return blas32.General{}, err
	}
	for i := range n {
		if !isFinite(rowOf(rows, i)) {
			return blas32.General{}, fmt.Errorf("supervised: map: %w", points.CheckFinite(rows))
		}
	}
	z := newRows(n, g.Columns())
	w := g.newMemory()
	for lo := 0; lo < n; lo += placedAtOnce {
		g.place(w, partOf(z, lo, min(lo+placedAtOnce, n)), partOf(rows, lo, min(lo+placedAtOnce, n)))
	}
	w.clear()
	return z, nil
}
