package supervised

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// The functions of this file see private rows. They have no branch and no index that depends on
// one, and make no subnormal number.

const (
	leastNormal  = 0x1p-126 // of float32
	leastRow     = 0x1p-600 // stands for the largest difference of a row without one
	leastSquares = 0x1p-300 // stands for the squares of a row of zeros
	leastImage   = 0x1p-800 // stands for the largest number of an image of zeros
	dotColumns   = 512      // that are summed in float32, as package dense has it
)

// guardedMemory is what is private while rows are placed.
type guardedMemory struct {
	row      []float32 // prepared
	image    []float64
	factors  []float32 // placedAtOnce rows, as their products are made of them
	scales   []float64 // what products of a row are multiplied with
	products []float32 // placedAtOnce rows
	sums     []float64
}

func (g *Guarded) newMemory() *guardedMemory {
	d, k := g.Dim(), g.Columns()
	w := &guardedMemory{row: make([]float32, d), image: make([]float64, k)}
	if g.m.A != nil {
		w.factors, w.scales = make([]float32, placedAtOnce*d), make([]float64, placedAtOnce)
		w.products, w.sums = make([]float32, placedAtOnce*k), make([]float64, placedAtOnce*k)
	}
	return w
}

func (w *guardedMemory) clear() {
	clear(w.row)
	clear(w.image)
	clear(w.factors)
	clear(w.scales)
	clear(w.products)
	clear(w.sums)
}

// isFinite reports whether all numbers of a row are finite, by their bits: the row may have subnormal
// ones still.
func isFinite(row []float32) bool {
	const infinite = 0x7f8 << 20
	all := ^uint64(0)
	for _, v := range row {
		all &= sametime.Less(uint64(math.Float32bits(v)&^(1<<31)), infinite)
	}
	return all != 0
}

// place sets z to the images of at most placedAtOnce finite rows.
func (g *Guarded) place(w *guardedMemory, z, rows blas32.General) {
	if g.m.A == nil {
		for i := range rows.Rows {
			g.prepare(w.row, rowOf(rows, i))
			g.move(w.image, w.row)
			g.finish(rowOf(z, i), w.image)
		}
		return
	}
	d, k := g.Dim(), g.Columns()
	for i := range rows.Rows {
		g.prepare(w.row, rowOf(rows, i))
		w.scales[i] = g.factor(w.factors[i*d:][:d], w.row)
	}
	clear(w.sums)
	for from := 0; from < d; from += dotColumns {
		g.kernels.Dots(simd.RowsOf(w.products, k), simd.RowsOf(w.factors[from:], d), simd.RowsOf(g.columns[from:], d), rows.Rows, k, min(dotColumns, d-from))
		for i, v := range w.products[:rows.Rows*k] {
			w.sums[i] += float64(v)
		}
	}
	for i := range rows.Rows {
		for j, sum := range w.sums[i*k:][:k] {
			w.image[j] = sum * w.scales[i] * g.inverse[j]
		}
		g.finish(rowOf(z, i), w.image)
	}
}

// prepare sets dst to a row with roots taken and divided by its norm, as the map says.
func (g *Guarded) prepare(dst, row []float32) {
	for j, v := range row {
		dst[j] = sametime.DropSubnormal(v)
	}
	if g.m.Root {
		takeRoots(dst)
	}
	if g.m.UnitRows {
		divideByNorm(dst, leastSquares)
	}
}

// divideByNorm divides a row by its norm. Its squares come to least, unless all are 0.
func divideByNorm(row []float32, least float64) {
	var sum float64
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	scale := 1 / math.Sqrt(sametime.Larger(sum, least))
	for j, v := range row {
		row[j] = toSingle(float64(v) * scale)
	}
}

// toSingle returns x, which is finite, as a float32 that is normal or 0.
func toSingle(x float64) float32 {
	return float32(sametime.DropSmall(sametime.Clamp(x, math.MaxFloat32), leastNormal))
}

// move sets image to that of a row that is prepared, under a map without a matrix.
func (g *Guarded) move(image []float64, row []float32) {
	for j, v := range row {
		image[j] = float64(v) - g.m.Mean[j]
	}
	if g.m.Scale != nil {
		for j, v := range g.m.Scale {
			image[j] *= v
		}
	}
}

// factor sets dst to what is multiplied with the columns of the matrix for a row that is
// prepared, and returns what products are multiplied with afterwards.
func (g *Guarded) factor(dst, row []float32) (scale float64) {
	largest := leastRow // of a row that is the mean
	for j, v := range row {
		largest = sametime.Larger(largest, math.Abs((float64(v)-g.m.Mean[j])*g.weights[j]))
	}
	down, up := powers(largest)
	for j, v := range row {
		dst[j] = float32(sametime.DropSmall((float64(v)-g.m.Mean[j])*g.weights[j]*down, leastFactor))
	}
	return up
}

// powers returns the power of two that brings a size to 1/2 or more and below 1, and its inverse.
// The size is 2^-1000 to 2^1000.
func powers(size float64) (down, up float64) {
	exponent := math.Float64bits(size) >> 52
	return math.Float64frombits((2045 - exponent) << 52), math.Float64frombits((exponent + 1) << 52)
}

// finish sets z to an image, which it may change.
func (g *Guarded) finish(z []float32, image []float64) {
	if g.m.UnitImages {
		largest := leastImage // of an image of zeros
		for _, v := range image {
			largest = sametime.Larger(largest, math.Abs(v))
		}
		down, _ := powers(largest)
		for j, v := range image {
			image[j] = v * down
		}
	}
	for j, v := range image {
		z[j] = toSingle(v)
	}
	if g.m.UnitImages {
		divideByNorm(z, 1./4) // the largest number alone comes to that
	}
}
