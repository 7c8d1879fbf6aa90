package kernel

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// The radius is chosen for the cells there will be: those of a sparse grid are
// larger, and bound less.
func TestCutoffKnowsTheCells(t *testing.T) {
	for _, d := range []int{1, 2} {
		const n, blobs = 10_000, 10
		rng := rngOf(4)
		p := blas32.General{Rows: n, Cols: d, Stride: d, Data: fill(n*d, func(i int) float64 {
			blob := i / d % blobs
			return 1000*float64(blob*(7+i%d)%blobs) + rng.Float64()
		})}
		b, _, err := BandwidthForDegree(t.Context(), p, 16, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tolerance := range []float64{1e-2, 1e-3, 1e-4} {
			op, err := NewCSR(t.Context(), p, b, &Options{Tolerance: tolerance})
			if err != nil {
				t.Fatal(err)
			}
			if g := cells.newGrid(mustPoints(t, p), op.Radius()); g.allCells() {
				t.Fatalf("d=%d: all cells are listed", d)
			}
			if op.cert.RowP99 > tolerance {
				t.Errorf("d=%d: 99 of 100 rows have eta up to %g, asked for %g", d, op.cert.RowP99, tolerance)
			}
		}
	}
}
