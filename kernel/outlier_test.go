package kernel

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// One row as far off as float32 allows changes neither the bandwidth of the others nor who
// their neighbours are, and is isolated.
func TestOneRowFarOff(t *testing.T) {
	for _, d := range []int{2, 5, 20} {
		const n, degree = 1500, 10
		for _, far := range []float32{1e20, 1e37, math.MaxFloat32, -math.MaxFloat32} {
			x := pointtest.Make("uniform", n, d, 3)
			x.Data[7*d] = far
			p, err := Open(x, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, radius, err := p.BandwidthForDegree(t.Context(), degree, 0, nil)
			if err != nil {
				t.Errorf("d=%d, %g: %v", d, far, err)
				continue
			}
			op, err := p.Build(t.Context(), b, &Options{CutoffRadius: radius})
			if err != nil {
				t.Errorf("d=%d, %g: %v", d, far, err)
				continue
			}
			if got := op.(Truncated).MeanNeighbours(); got < degree/2 || got > 2*degree || op.Certificate().Isolated < 1 {
				t.Errorf("d=%d, %g: %g neighbours, %d rows isolated", d, far, got, op.Certificate().Isolated)
			}
			op.Close()
		}
	}
}
