package files

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func TestPointsBuffer(t *testing.T) {
	f := settings.Work{MaxMemory: 4 * 50 * 3}
	buffer := func(rows, cols int) blas32.General {
		b, err := PointsBuffer(t.Context(), &f, new(cli.Env), rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b := buffer(50, 3); b.Data != nil {
		t.Error("a buffer of the whole limit")
	}
	f.MaxMemory++
	if b := buffer(50, 3); b.Rows != 50 || b.Cols != 3 || b.Stride != 3 || len(b.Data) != 150 {
		t.Errorf("%d x %d in %d entries", b.Rows, b.Cols, len(b.Data))
	}
	for _, limit := range []int64{0, math.MaxInt64} { // whatever the limit, no machine has as much
		f.MaxMemory = limit
		for _, rows := range []int{math.MaxInt, math.MaxInt / 1000, 1 << 30} {
			if b := buffer(rows, math.MaxInt32); b.Data != nil {
				t.Errorf("a buffer of %d rows", rows)
			}
		}
	}
}

func TestInSingle(t *testing.T) {
	into := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}}
	if x := InSingle(into, nil); &x.Data[0] != &into.Data[0] {
		t.Error("the buffer was copied")
	}
	if x := InSingle(blas32.General{}, mat.NewDense(1, 2, []float64{3, 4})); !slices.Equal(x.Data, []float32{3, 4}) || x.Rows != 1 || x.Cols != 2 {
		t.Errorf("%+v", x)
	}
}
