package kernel

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
)

// The radius is chosen for the cells there will be: those of a sparse grid are
// larger, and bound less.
func TestCutoffKnowsTheCells(t *testing.T) {
	for _, d := range []int{1, 2} {
		p := pointtest.Blobs(d)
		b, _, err := bandwidthForDegree(t.Context(), p, 16, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tolerance := range []float64{1e-2, 1e-3, 1e-4} {
			op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &Options{Tolerance: tolerance}))
			if err != nil {
				t.Fatal(err)
			}
			if op.Radius() > pointtest.BlobRadius {
				t.Fatalf("d=%d: with a radius of %g all cells may be listed", d, op.Radius())
			}
			if op.Cert.RowP99 > tolerance {
				t.Errorf("d=%d: 99 of 100 rows have eta up to %g, asked for %g", d, op.Cert.RowP99, tolerance)
			}
		}
	}
}
