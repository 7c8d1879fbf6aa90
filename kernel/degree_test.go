package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// Rows have as many neighbours as were asked for, also where nearly all distances are
// about the same and where only some of the rows are looked at.
func TestDegreeInAnyDimension(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, d   int
		degree float64
	}{
		{1500, 2, 20}, {1500, 3, 5}, {1500, 5, 20}, {1500, 8, 20}, {1500, 9, 20}, {1500, 16, 5},
		{1500, 32, 100}, {1500, 64, 5}, {1500, 64, 20}, {1000, 128, 20}, {1000, 256, 20}, {300, 1024, 20}, {260, 4096, 5}, {260, 4096, 20}, {260, 10_000, 20},
	} {
		t.Run(fmt.Sprintf("%dx%d,%g", c.n, c.d, c.degree), func(t *testing.T) {
			t.Parallel()
			p := pointtest.Make("uniform", c.n, c.d, 7)
			b, radius, err := bandwidthForDegree(t.Context(), p, c.degree, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			op, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: radius})
			if err != nil {
				t.Fatal(err)
			}
			if got := op.MeanNeighbours(); math.Abs(got-c.degree) > 0.1*c.degree {
				t.Errorf("%.4g neighbours, %g were asked for", got, c.degree)
			}
		})
	}
}

// Rows without a neighbour are foreseen where all distances are in one or two bins.
func TestIsolatedRowsAreForeseen(t *testing.T) {
	t.Parallel()
	p := pointtest.Make("uniform", 256, 1500, 4)
	pts, err := Open(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, degree := range []float64{0.5, 20} {
		b, radius, err := pts.BandwidthForDegree(t.Context(), degree, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt := &Options{CutoffRadius: radius, Calibration: new(Calibration)}
		op, err := openCSR(t.Context(), p, b, opt)
		if err != nil {
			t.Fatal(err)
		}
		candidates, err := pts.Plan(t.Context(), b, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, want := candidates[0].Degrees.Isolated, float64(op.Certificate().Isolated)
		if math.Abs(got-want) > 0.15*float64(p.Rows) {
			t.Errorf("degree %g: %.4g isolated rows foreseen, there are %g", degree, got, want)
		}
	}
}
