package modes

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

func TestExtend(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 2, 5})
	got, err := extend(x, []int{0, 1, 2, 1}, []float64{1, 4, 0, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	near, far := math.Exp(-0.25), math.Exp(-1)
	if want := (near*1 + far*2) / (near + far); math.Abs(got.At(0, 0)-want) > 1e-15 || got.At(1, 0) != 3.5 {
		t.Errorf("%v, want %v and 3.5", mat.Formatted(got), want)
	}
	for _, c := range []struct {
		name    string
		index   []int
		squared []float64
		k       int
		want    error
	}{
		{"k", []int{0}, []float64{1}, 0, points.ErrShape},
		{"nobody", nil, nil, 1, points.ErrShape},
		{"lengths", []int{0, 1, 2}, []float64{1, 1, 1}, 2, points.ErrShape},
		{"distances", []int{0, 1}, []float64{1}, 2, points.ErrShape},
		{"row", []int{3}, []float64{1}, 1, points.ErrShape},
		{"no number", []int{0}, []float64{math.Inf(1)}, 1, points.ErrNonFinite},
		{"negative", []int{0}, []float64{-1}, 1, points.ErrNonFinite},
	} {
		if _, err := extend(x, c.index, c.squared, c.k); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
