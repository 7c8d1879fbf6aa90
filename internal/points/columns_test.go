package points_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Columns come out with mean 0 and variance 1, also in place, and constant columns of any size
// as zeros.
func TestStandardizeColumns(t *testing.T) {
	const n, d, stride = 50, 4, 6
	x := blas32.General{Rows: n, Cols: d, Stride: stride, Data: make([]float32, n*stride)}
	for i := range n {
		row := x.Data[i*stride:]
		row[0], row[1], row[2], row[3], row[4] = 1e6+float32(i%7), float32(i)*1e-20, 0.1, 3e38*float32(1-2*(i%2)), 77
	}
	out := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	if err := points.StandardizeColumns(out, x); err != nil {
		t.Fatal(err)
	}
	mean, variance := points.ColumnMoments(out)
	for j := range d {
		want := 1.0
		if j == 2 {
			want = 0
		}
		if math.Abs(mean[j]) > 1e-6 || math.Abs(variance[j]-want) > 1e-6 {
			t.Errorf("column %d: mean %g, variance %g", j, mean[j], variance[j])
		}
	}
	if err := points.StandardizeColumns(x, x); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range d {
			if x.Data[i*stride+j] != out.Data[i*d+j] {
				t.Fatalf("(%d, %d) in place is %g, want %g", i, j, x.Data[i*stride+j], out.Data[i*d+j])
			}
		}
		if x.Data[i*stride+4] != 77 {
			t.Fatal("a number between rows has changed")
		}
	}
	short := out
	short.Rows--
	if err := points.StandardizeColumns(short, x); !errors.Is(err, points.ErrShape) {
		t.Error(err)
	}
	x.Data[3*stride+1] = float32(math.NaN())
	var bad *points.NonFiniteError
	if err := points.StandardizeColumns(out, x); !errors.As(err, &bad) || bad.Row != 3 || bad.Col != 1 {
		t.Error(err)
	}
}
