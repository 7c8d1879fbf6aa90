package privatemail

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// A tolerance too small to divide by is kept or refused, and breaks nothing.
func TestTinyTolerance(t *testing.T) {
	e := engine(t)
	for _, rows := range []int{1, 3} {
		x := blas32.General{Rows: rows, Cols: 3, Stride: 3, Data: []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}[:3*rows]}
		for _, operator := range []string{"", "csr", "pairs", "dense", "poly", "grid"} {
			s := &Settings{Graph: Graph{Bandwidth: kernel.Gamma(2), Tolerance: 1e-320, Operator: operator}}
			_, err := e.Embed(t.Context(), x, nil, s)
			if _, broken := errors.AsType[*par.PanicError](err); broken {
				t.Errorf("%d rows by %q: %v", rows, operator, err)
			}
			if _, err := e.Plan(t.Context(), x, s); err != nil {
				t.Errorf("plan of %d rows by %q: %v", rows, operator, err)
			}
		}
	}
}
