package points_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// The error names the row and the column of the first entry that no run can begin with.
func TestCheckStart(t *testing.T) {
	const n, row = 400, 100
	for _, c := range []struct {
		value float64
		want  error
	}{{9e29, nil}, {math.NaN(), points.ErrNonFinite}, {math.Inf(-1), points.ErrNonFinite}, {-2e30, points.ErrDiverged}, {math.MaxFloat32, points.ErrDiverged}} {
		x := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
		x.Data[2*row+1] = float32(c.value)
		if err := points.CheckStart(x); !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), "row 101, column 2") {
			t.Errorf("%g: %v", c.value, err)
		}
	}
	for _, x := range []blas32.General{{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 7)}, {Rows: math.MaxInt, Cols: 1, Stride: math.MaxInt / 2, Data: make([]float32, 7)}} {
		if err := points.CheckStart(x); !errors.Is(err, points.ErrShape) {
			t.Errorf("%d x %d: %v", x.Rows, x.Cols, err)
		}
	}
}
