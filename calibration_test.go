package privatemail

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// The calibration of an Engine decides which operator it picks.
func TestWithCalibration(t *testing.T) {
	const n = 20_000
	x := blas32.General{Rows: n, Cols: 1, Stride: 1, Data: make([]float32, n)}
	for i := range x.Data {
		x.Data[i] = float32(i)
	}
	for want, c := range map[string]kernel.Calibration{"csr": {}, "grid": {Sparse: 1e4}} {
		e, err := New(WithCalibration(c))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := e.Plan(t.Context(), x, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(3)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Candidates[0].Name; got != want {
			t.Errorf("%+v: %s is picked, want %s", c, got, want)
		}
		e.Close()
	}
}
