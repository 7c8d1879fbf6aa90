package supervised

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/par"
)

// rowsAtOnce is how many rows a worker takes at a time where rows have nothing to do with
// each other.
const rowsAtOnce = 64

// newRows returns n rows of d zeros.
func newRows(n, d int) blas32.General {
	return blas32.General{Rows: n, Cols: d, Stride: max(d, 1), Data: make([]float32, n*d)}
}

func rowOf(x blas32.General, i int) []float32 { return x.Data[i*x.Stride:][:x.Cols] }

// apply returns x after the preparation: x itself where nothing is to be done.
func (p preparation) apply(ctx context.Context, core *dense.Core, x blas32.General) (blas32.General, error) {
	if p == (preparation{}) {
		return x, nil
	}
	out := newRows(x.Rows, x.Cols)
	err := core.Workers.Do(ctx, par.Blocks(x.Rows, rowsAtOnce), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, x.Rows, rowsAtOnce)
		for i := lo; i < hi; i++ {
			p.row(rowOf(out, i), rowOf(x, i))
		}
	}))
	return out, err
}

// row sets dst to row after the preparation.
func (p preparation) row(dst, row []float32) {
	copy(dst, row)
	if p.root {
		takeRoots(dst)
	}
	if p.unitRows {
		normalize(dst)
	}
}

// takeRoots replaces values by their roots, with their signs.
func takeRoots(row []float32) {
	for j, v := range row {
		root := float32(math.Sqrt(math.Abs(float64(v))))
		if v < 0 {
			root = -root
		}
		row[j] = root
	}
}

// normalize divides a row by its norm; a row of zeros stays.
func normalize(row []float32) {
	var sum float64 // of float32 squares: neither overflows nor underflows
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for j, v := range row {
		row[j] = float32(float64(v) * scale)
	}
}

// gather returns some rows of x, in the order given.
func gather(x blas32.General, rows []int) blas32.General {
	out := newRows(len(rows), x.Cols)
	for at, i := range rows {
		copy(rowOf(out, at), rowOf(x, i))
	}
	return out
}
