package mechanism

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Through the real mechanism: neighbours at the distance of the bound, and how often the
// odds move by more than e^epsilon. "Except with probability delta" would be 4 of
// 400,000; it is Phi(-epsilon/mu + mu/2).
func TestOddsMoveMoreOftenThanDelta(t *testing.T) {
	const epsilon, delta = 0.1, 1e-5
	b := boundOf(t, sensitivity.ReplaceOne, 3, 1, 1)
	c := calibrate(t, CalibrationSettings{Epsilon: epsilon, Delta: delta, Sensitivity: b})
	distance, sigma := c.L2Sensitivity(), c.Sigma()
	runs := pick(400_000, 4_000_000)
	x := blas64.General{Rows: runs, Cols: 1, Stride: 1, Data: make([]float64, runs)}
	for i := range x.Data {
		x.Data[i] = distance
	}
	grid := make([]int64, runs)
	secret, err := drawSecrets(randomness("odds"), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	noise.Stream(&secret.chunks[0], func(words noise.Source) { perturb(grid, x, 0, runs, c, &noise.Sampler{Words: words}) })
	moved := 0
	for _, k := range grid {
		z := float64(k) * c.Step()
		loss := (z*z - (z-distance)*(z-distance)) / (2 * sigma * sigma)
		if loss > epsilon {
			moved++
		}
	}
	tail, _ := bigTail(bigOf(epsilon/c.Mu() - c.Mu()/2)).Float64()
	mean := tail * float64(runs)
	if d := (float64(moved) - mean) / math.Sqrt(mean); math.Abs(d) > 6.109 || float64(moved) < 20*delta*float64(runs) {
		t.Errorf("the odds moved %d times, %.1f standard deviations from %.1f", moved, d, mean)
	}
	t.Logf("%d of %d, delta alone would be %.0f", moved, runs, delta*float64(runs))
}
