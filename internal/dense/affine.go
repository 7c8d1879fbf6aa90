package dense

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// An Affine is a map x -> (x - mean) a that is prepared once, for rows that come in many
// parts. Its results have the same bits as those of Mul. It is safe for concurrent use.
type Affine struct {
	k       *simd.Kernels
	d       int
	mean    []float64
	columns []float32 // the columns of a, scaled, one after the other
	scale   []float64 // the factor of a column of the result
}

// AffineMemory is the memory that one goroutine needs for an Affine.
type AffineMemory struct {
	rows     []float32 // mulRows rows of x, centred and scaled
	scale    [mulRows]float64
	products []float32
	sums     []float64
}

// Affine prepares a map. Errors: points.ErrShape for a mean that does not fit, and
// *points.NonFiniteError for an entry of mean or a that is not finite.
func (c *Core) Affine(mean []float64, a mat.Matrix) (*Affine, error) {
	if err := checkMean(mean, a); err != nil {
		return nil, fmt.Errorf("dense: affine: %w", err)
	}
	m, err := newAffine(c.Loops(), mean, a)
	if err != nil {
		return nil, fmt.Errorf("dense: affine: %w", err)
	}
	return m, nil
}

// Rows sets out to the images of rows x. The caller has checked that x is finite and that both
// have the sizes of the map. It returns the number of the first row of out that is not finite,
// or -1 if all are. out must not overlap x.
func (m *Affine) Rows(w *AffineMemory, out, x blas32.General) (bad int) {
	for lo := 0; lo < x.Rows; lo += mulRows {
		if bad := m.block(w, out, x, lo, min(lo+mulRows, x.Rows)); bad > 0 {
			return bad - 1
		}
	}
	return -1
}

func newAffine(k *simd.Kernels, mean []float64, a mat.Matrix) (*Affine, error) {
	d, cols := a.Dims()
	if mean == nil {
		mean = make([]float64, d)
	}
	m := &Affine{k: k, d: d, mean: mean, columns: make([]float32, d*cols), scale: make([]float64, cols)}
	x, ok := a.(*mat.Dense)
	if !ok {
		x = mat.DenseCopyOf(a)
	}
	const atOnce = 8 // a cache line of every row
	for lo := 0; lo < cols; lo += atOnce {
		hi := min(lo+atOnce, cols)
		var size [atOnce]float64
		for i := range d {
			for j, v := range x.RawRowView(i)[lo:hi] {
				if v-v != 0 {
					return nil, &points.NonFiniteError{What: "matrix", Row: i, Col: lo + j}
				}
				size[j] = max(size[j], math.Abs(v))
			}
		}
		var scale [atOnce]float64
		for j := range hi - lo {
			scale[j] = downTo1(size[j])
			m.scale[lo+j] = 1 / scale[j]
		}
		for i := range d {
			for j, v := range x.RawRowView(i)[lo:hi] {
				m.columns[(lo+j)*d+i] = float32(v * scale[j])
			}
		}
	}
	return m, nil
}

// NewMemory returns memory for one goroutine.
func (m *Affine) NewMemory() *AffineMemory {
	return &AffineMemory{
		rows:     make([]float32, mulRows*m.d),
		products: make([]float32, mulRows*mulTile),
		sums:     make([]float64, mulRows*mulTile),
	}
}

// block computes rows lo to hi-1 of the result, at most mulRows. It returns 1 more than the
// first row with an entry that float32 cannot hold, or 0.
func (m *Affine) block(w *AffineMemory, out, x blas32.General, lo, hi int) (bad int) {
	for i := lo; i < hi; i++ {
		m.centre(w, rowOf(x, i), i-lo)
	}
	for left := 0; left < out.Cols; left += mulTile {
		right := min(left+mulTile, out.Cols)
		scales := m.scale[left:right]
		if m.d <= sumColumns { // one sum per number, which needs no memory in float64
			m.dots(w, hi-lo, left, right, 0)
			for i := lo; i < hi; i++ {
				m.k.ScaleProducts(rowOf(out, i)[left:right], w.products[(i-lo)*mulTile:][:right-left], w.scale[i-lo], scales)
			}
			continue
		}
		m.tile(w, hi-lo, left, right)
		for i := lo; i < hi; i++ {
			scaleTo(rowOf(out, i)[left:right], w.sums[(i-lo)*mulTile:], w.scale[i-lo], scales)
		}
	}
	for i := lo; i < hi; i++ {
		if !m.k.Finite(rowOf(out, i)) {
			return i + 1
		}
	}
	return 0
}

// scaleTo sets a row to sums times the scale of the row and that of each column.
func scaleTo(row []float32, sums []float64, scale float64, scales []float64) {
	sums, scales = sums[:len(row)], scales[:len(row)]
	for j := range row {
		row[j] = float32(sums[j] * scale * scales[j])
	}
}

// centre prepares a row of x as row r of a block.
func (m *Affine) centre(w *AffineMemory, row []float32, r int) {
	scale := downTo1(m.k.LargestDifference(row, m.mean))
	w.scale[r] = 1 / scale
	m.k.ScaleDifferences(w.rows[r*m.d:][:m.d], row, m.mean, scale)
}

// dots sets products to the products of some rows with the columns left to right-1, over
// sumColumns columns of x from the given one on.
func (m *Affine) dots(w *AffineMemory, rows, left, right, from int) {
	m.k.Dots(simd.RowsOf(w.products, mulTile), simd.RowsOf(w.rows[from:], m.d), simd.RowsOf(m.columns[left*m.d+from:], m.d),
		rows, right-left, min(sumColumns, m.d-from))
}

// tile sets the sums of some rows with the columns left to right-1.
func (m *Affine) tile(w *AffineMemory, rows, left, right int) {
	clear(w.sums)
	for from := 0; from < m.d; from += sumColumns {
		m.dots(w, rows, left, right, from)
		for i, v := range w.products[:rows*mulTile] {
			w.sums[i] += float64(v)
		}
	}
}
