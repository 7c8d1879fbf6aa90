package dense

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/simd"
)

const (
	// mulRows is how many rows of x a worker multiplies at a time, mulTile how many columns
	// of a: both stay in the second-level cache.
	mulRows, mulTile = 64, 64
	// sumColumns is how many columns of x are summed in float32.
	sumColumns = 512
)

// Mul sets out, n x m, to (x - mean) a, where a is d x m. Where mean is nil nothing is
// subtracted.
//
// Rows of x - mean and columns of a are scaled by powers of two and rounded to float32,
// float32 sums run over 512 columns, and those are added in float64. With u = 2^-24 the
// error of an entry is at most
//
//	(512/4 + 9) u sum_j |x_ij - mean_j| |a_jk| + u |out_ik|.
//
// out must not overlap x. On error its rows hold anything.
//
// Errors: points.ErrShape for sizes that do not fit, *points.NonFiniteError for an entry
// of x, mean or a that is not finite and for one of out that float32 cannot hold, and that
// of ctx.
func (c *Core) Mul(ctx context.Context, out, x blas32.General, mean []float64, a mat.Matrix) error {
	k := c.kernels()
	if err := checkMul(k, out, x, mean, a); err != nil {
		return fmt.Errorf("dense: mul: %w", err)
	}
	m, err := newMul(k, x, mean, a)
	if err != nil {
		return fmt.Errorf("dense: mul: %w", err)
	}
	blocks := par.Blocks(x.Rows, mulRows)
	memory := make([]*mulMemory, c.Workers.Count())
	bad := make([]int, blocks) // 1 more than the first bad row
	round := 8 * c.Workers.Count()
	for first := 0; first < blocks; first += round {
		now := min(round, blocks-first)
		err := c.do(ctx, now, func(worker, piece int) {
			if memory[worker] == nil {
				memory[worker] = m.newMemory()
			}
			bad[first+piece] = m.block(memory[worker], out, first+piece)
		})
		if err != nil {
			return fmt.Errorf("dense: mul: %w", err)
		}
		c.report(first+now, blocks)
	}
	for _, row := range bad {
		if row > 0 {
			return fmt.Errorf("dense: mul: %w", firstNonFinite(out, row-1))
		}
	}
	return nil
}

func checkMul(k *simd.Kernels, out, x blas32.General, mean []float64, a mat.Matrix) error {
	if err := checkRows(k, x); err != nil {
		return err
	}
	on, om, err := points.Dims(out)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	d, m := a.Dims()
	if d != x.Cols || on != x.Rows || om != m || mean != nil && len(mean) != d {
		return fmt.Errorf("%w: rows %d x %d, mean %d, matrix %d x %d, result %d x %d", points.ErrShape, x.Rows, x.Cols, len(mean), d, m, on, om)
	}
	for j, v := range mean {
		if v-v != 0 {
			return &points.NonFiniteError{What: "mean", Col: j}
		}
	}
	return nil
}

// mul is a request with its matrix made ready.
type mul struct {
	k       *simd.Kernels
	x       blas32.General
	mean    []float64
	columns []float32 // the columns of a, scaled, one after the other
	scale   []float64 // what a column of the result is multiplied with
}

type mulMemory struct {
	rows     []float32 // mulRows rows of x, centred and scaled
	scale    [mulRows]float64
	products []float32
	sums     []float64
	row      []float64
}

func newMul(k *simd.Kernels, x blas32.General, mean []float64, a mat.Matrix) (*mul, error) {
	d, cols := a.Dims()
	if mean == nil {
		mean = make([]float64, d)
	}
	m := &mul{k: k, x: x, mean: mean, columns: make([]float32, d*cols), scale: make([]float64, cols)}
	column := make([]float64, d)
	for j := range cols {
		size := 0.0
		for i := range column {
			v := a.At(i, j)
			if v-v != 0 {
				return nil, &points.NonFiniteError{What: "matrix", Row: i, Col: j}
			}
			column[i] = v
			size = max(size, math.Abs(v))
		}
		scale := downTo1(size)
		m.scale[j] = 1 / scale
		for i, v := range column {
			m.columns[j*d+i] = float32(v * scale)
		}
	}
	return m, nil
}

func (m *mul) newMemory() *mulMemory {
	return &mulMemory{
		rows:     make([]float32, mulRows*m.x.Cols),
		products: make([]float32, mulRows*mulTile),
		sums:     make([]float64, mulRows*mulTile),
		row:      make([]float64, m.x.Cols),
	}
}

// block computes a block of rows of the result. It returns 1 more than the first row with
// an entry that float32 cannot hold, or 0.
func (m *mul) block(w *mulMemory, out blas32.General, block int) (bad int) {
	lo, hi := par.Block(block, m.x.Rows, mulRows)
	for i := lo; i < hi; i++ {
		m.centre(w, i, i-lo)
	}
	for left := 0; left < out.Cols; left += mulTile {
		right := min(left+mulTile, out.Cols)
		m.tile(w, hi-lo, left, right)
		for i := lo; i < hi; i++ {
			to, sums, scale := rowOf(out, i)[left:right], w.sums[(i-lo)*mulTile:], w.scale[i-lo]
			for j := range to {
				to[j] = float32(sums[j] * scale * m.scale[left+j])
			}
		}
	}
	for i := lo; i < hi; i++ {
		if !m.k.Finite(rowOf(out, i)) {
			return i + 1
		}
	}
	return 0
}

// centre makes row i of x ready as row r of a block.
func (m *mul) centre(w *mulMemory, i, r int) {
	size := 0.0
	for j, v := range rowOf(m.x, i) {
		w.row[j] = float64(v) - m.mean[j]
		size = max(size, math.Abs(w.row[j]))
	}
	scale := downTo1(size)
	w.scale[r] = 1 / scale
	to := w.rows[r*m.x.Cols:][:m.x.Cols]
	for j, v := range w.row {
		to[j] = float32(v * scale)
	}
}

// tile sets the sums of some rows with the columns left to right-1.
func (m *mul) tile(w *mulMemory, rows, left, right int) {
	d := m.x.Cols
	clear(w.sums)
	for from := 0; from < d; from += sumColumns {
		m.k.Dots(simd.RowsOf(w.products, mulTile), simd.RowsOf(w.rows[from:], d), simd.RowsOf(m.columns[left*d+from:], d),
			rows, right-left, min(sumColumns, d-from))
		for i, v := range w.products[:rows*mulTile] {
			w.sums[i] += float64(v)
		}
	}
}

// firstNonFinite returns the error of the first entry of a row that is not finite.
func firstNonFinite(out blas32.General, row int) error {
	for j, v := range rowOf(out, row) {
		if v-v != 0 {
			return &points.NonFiniteError{What: "result", Row: row, Col: j}
		}
	}
	return nil
}
