package pointtest

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// RandomBlock returns n rows of k normal numbers.
func RandomBlock(rng *rand.Rand, n, k int) blas32.General {
	return blas32.General{Rows: n, Cols: k, Stride: k, Data: Fill(n*k, func(int) float64 { return rng.NormFloat64() })}
}

// Widen returns a matrix in float64.
func Widen(m blas32.General) blas64.General {
	out := blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: make([]float64, m.Rows*m.Cols)}
	for i := range m.Rows {
		for c, v := range m.Data[i*m.Stride:][:m.Cols] {
			out.Data[i*m.Cols+c] = float64(v)
		}
	}
	return out
}

// Zeros32 returns n rows of k zeros.
func Zeros32(n, k int) blas32.General {
	return blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
}

// Zeros64 is Zeros32 in float64.
func Zeros64(n, k int) blas64.General {
	return blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
}

// PermuteRows returns row order[i] of x as row i; nil leaves x as it is.
func PermuteRows(x blas32.General, order []uint32) blas32.General {
	if order == nil {
		return x
	}
	out := Zeros32(x.Rows, x.Cols)
	for i, from := range order {
		copy(out.Data[i*x.Cols:][:x.Cols], x.Data[int(from)*x.Stride:])
	}
	return out
}

// RandomLabels has classes labels with gaps and, if asked, unlabelled rows.
func RandomLabels(rng *rand.Rand, n, classes int, unlabelled bool) []int32 {
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(3 * rng.IntN(classes))
		if unlabelled && rng.IntN(4) == 0 {
			y[i] = -1
		}
	}
	return y
}

// Tester is what *testing.T and *rapid.T have in common.
type Tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// PlainWeights is the definition of W, entry by entry.
func PlainWeights(p blas32.General, gamma float64) [][]float64 {
	w := make([][]float64, p.Rows)
	for i := range w {
		w[i] = make([]float64, p.Rows)
		for j := range w[i] {
			if i != j {
				w[i][j] = math.Exp(-gamma * rows.Dist2(rows.View32(p).Row(i), rows.View32(p).Row(j)))
			}
		}
	}
	return w
}

// PlainMul returns the product of w and x by the definition.
func PlainMul(w [][]float64, x blas64.General) blas64.General {
	out := Zeros64(x.Rows, x.Cols)
	for i := range w {
		for j, v := range w[i] {
			for c := range x.Cols {
				out.Data[i*x.Cols+c] += v * x.Data[j*x.Cols+c]
			}
		}
	}
	return out
}

// ClusteredUnitRows returns rows of unit norm around some centres.
func ClusteredUnitRows(n, d, classes int) blas32.General {
	rng := Rand(uint64(n + d))
	centres := Zeros32(classes, d)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	p := Zeros32(n, d)
	for i := range n {
		row, norm2 := p.Data[i*d:][:d], 0.0
		for c := range row {
			row[c] = centres.Data[i%classes*d+c] + float32(rng.NormFloat64())
			norm2 += float64(row[c]) * float64(row[c])
		}
		for c := range row {
			row[c] /= float32(math.Sqrt(norm2))
		}
	}
	return p
}

// LowRank returns unit rows whose spread is mostly along a few directions.
func LowRank(n, d, rank int) blas32.General {
	rng := Rand(uint64(n + d + rank))
	p := Zeros32(n, d)
	directions := RandomBlock(rng, rank, d)
	for i := range n {
		row, norm2 := p.Data[i*d:][:d], 0.0
		for a := range rank {
			along := float32(rng.NormFloat64() / math.Sqrt(float64(a+1)))
			for c := range row {
				row[c] += along * directions.Data[a*d+c]
			}
		}
		for c := range row {
			row[c] += float32(0.01 * rng.NormFloat64())
			norm2 += float64(row[c]) * float64(row[c])
		}
		for c := range row {
			row[c] /= float32(math.Sqrt(norm2))
		}
	}
	return p
}

// Entries returns the matrix of an operator.
func Entries(t Tester, op interface {
	N() int
	Apply64(ctx context.Context, dst, x blas64.General) error
}) [][]float64 {
	t.Helper()
	n := op.N()
	one, out := Zeros64(n, n), Zeros64(n, n)
	for i := range n {
		one.Data[i*n+i] = 1
	}
	if err := op.Apply64(t.Context(), out, one); err != nil {
		t.Fatalf("%v", err)
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = out.Data[i*n:][:n]
	}
	return rows
}
