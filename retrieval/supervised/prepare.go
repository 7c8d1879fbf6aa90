package supervised

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
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
	out, k := newRows(x.Rows, x.Cols), core.Loops()
	err := core.Workers.Do(ctx, split.Blocks(x.Rows, rowsAtOnce), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, x.Rows, rowsAtOnce)
		p.rows(k, partOf(out, lo, hi), partOf(x, lo, hi))
	}))
	return out, err
}

// rows sets dst to the rows x after the preparation.
func (p preparation) rows(k *simd.Kernels, dst, x blas32.General) {
	for i := range x.Rows {
		copy(rowOf(dst, i), rowOf(x, i))
		if p.root {
			takeRoots(rowOf(dst, i))
		}
	}
	if p.unitRows {
		normalizeAll(k, dst)
	}
}

// partOf returns rows lo to hi-1.
func partOf(x blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride:]}
}

// takeRoots replaces values by their roots, with their signs. Zeros become 0, whatever their
// sign.
func takeRoots(row []float32) {
	const sign = 1 << 31
	for j, v := range row {
		// One instruction takes the root in float32, which is that of float64 rounded. The
		// sign is put back without a branch, which data of both signs would mislead.
		bits := math.Float32bits(v)
		root := math.Float32bits(float32(math.Sqrt(float64(math.Float32frombits(bits &^ sign)))))
		row[j] = math.Float32frombits(root|bits&sign) + 0
	}
}

// normalize divides a row by its norm; a row of zeros stays.
func normalize(k *simd.Kernels, row []float32) {
	var sum float64 // of float32 squares: neither overflows nor underflows
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	divideByRoot(k, row, sum)
}

// divideByRoot divides a row by the root of sum, unless that is 0.
func divideByRoot(k *simd.Kernels, row []float32, sum float64) {
	if sum != 0 {
		k.ScaleRow(row, row, 1/math.Sqrt(sum))
	}
}

// normalizeAll is normalize of every row, with the same bits. A sum waits for each of its terms,
// so the sums of four rows together take little more time than one.
func normalizeAll(k *simd.Kernels, x blas32.General) {
	i := 0
	for ; i+4 <= x.Rows; i += 4 {
		a, b, c, d := rowOf(x, i), rowOf(x, i+1), rowOf(x, i+2), rowOf(x, i+3)
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		var sa, sb, sc, sd float64
		for j := range a {
			sa += float64(a[j]) * float64(a[j])
			sb += float64(b[j]) * float64(b[j])
			sc += float64(c[j]) * float64(c[j])
			sd += float64(d[j]) * float64(d[j])
		}
		divideByRoot(k, a, sa)
		divideByRoot(k, b, sb)
		divideByRoot(k, c, sc)
		divideByRoot(k, d, sd)
	}
	for ; i < x.Rows; i++ {
		normalize(k, rowOf(x, i))
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
