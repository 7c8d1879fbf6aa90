package spectral

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A start of some known rows leads to the same eigenvalues with fewer products.
func TestConvergeFromAStart(t *testing.T) {
	p, _ := roll(3000)
	op, err := kernel.Build(t.Context(), p, kernel.Gamma(1), &kernel.Options{Neighbours: 10, SelfTuned: true})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	step := kernel.Step{Form: kernel.Attract}
	want, err := Converge(t.Context(), op, step, &ConvergeSettings{Dim: 6})
	if err != nil {
		t.Fatal(err)
	}
	start := newMatrix(3000, 6)
	for i := 0; i < 3000; i += 2 {
		copy(row(start, i), row(want.Points, i))
	}
	got, err := Converge(t.Context(), op, step, &ConvergeSettings{Dim: 6, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != iterate.Converged || got.Products >= want.Products {
		t.Errorf("%v after %d products, %d from a random start", got.Status, got.Products, want.Products)
	}
	for j, v := range want.Values {
		if d := got.Values[j] - v; d > 1e-5 || d < -1e-5 {
			t.Errorf("eigenvalue %d is %g, want %g", j, got.Values[j], v)
		}
	}
	for name, bad := range map[string]blas32.General{"rows": newMatrix(2999, 6), "columns": newMatrix(3000, 20), "data": {Rows: 3000, Cols: 6, Stride: 6, Data: make([]float32, 9)}} {
		if _, err := Converge(t.Context(), op, step, &ConvergeSettings{Dim: 6, Start: bad}); !errors.Is(err, kernel.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
