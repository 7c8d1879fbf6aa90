package pipeline

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

func TestCheckInto(t *testing.T) {
	for _, into := range []blas32.General{{}, {Rows: 3, Cols: 2, Stride: 2, Data: make([]float32, 6)}, {Rows: 3, Cols: 2, Stride: 5, Data: make([]float32, 12)}} {
		if err := CheckInto(into, 3, 2); err != nil {
			t.Errorf("%d x %d: %v", into.Rows, into.Cols, err)
		}
	}
	for name, into := range map[string]blas32.General{
		"no memory":       {Rows: 3, Cols: 2, Stride: 2},
		"no size":         {Data: make([]float32, 6)},
		"too few rows":    {Rows: 2, Cols: 2, Stride: 2, Data: make([]float32, 6)},
		"too many":        {Rows: 4, Cols: 2, Stride: 2, Data: make([]float32, 8)},
		"columns":         {Rows: 3, Cols: 1, Stride: 2, Data: make([]float32, 6)},
		"short":           {Rows: 3, Cols: 2, Stride: 2, Data: make([]float32, 5)},
		"stride":          {Rows: 3, Cols: 2, Stride: 1, Data: make([]float32, 6)},
		"negative":        {Rows: -3, Cols: 2, Stride: 2, Data: make([]float32, 6)},
		"negative stride": {Rows: 3, Cols: 2, Stride: -2, Data: make([]float32, 6)},
	} {
		if err := CheckInto(into, 3, 2); !errors.Is(err, points.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
