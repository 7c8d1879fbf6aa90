package mechanism

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The loss by its definition, in 1200-bit arithmetic, and the figures that the pages
// print.
func TestLoss(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, times float64 }{{0.1, 1e-5, 111}, {1, 1e-5, 16}} {
		multiplier, err := Analytic.Multiplier(c.epsilon, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		mu := 1 / multiplier
		tail, err := LossTail(mu, c.epsilon)
		if err != nil || math.Round(tail/c.delta) != c.times {
			t.Errorf("(%g, %g): %g is %.1f delta, want %g, %v", c.epsilon, c.delta, tail, tail/c.delta, c.times, err)
		}
		want, _ := bigTail(bigSub(bigQuo(bigOf(c.epsilon), bigOf(mu)), bigMul(bigOf(mu), bigOf(0.5)))).Float64()
		if math.Abs(tail-want) > 1e-12*want {
			t.Errorf("tail %.15g, want %.15g", tail, want)
		}
		loss, err := LossAt(mu, c.delta)
		if err != nil || loss <= c.epsilon {
			t.Errorf("loss %g at delta %g, %v", loss, c.delta, err)
		}
		if back, err := LossTail(mu, loss); err != nil || back > c.delta || back < c.delta*(1-1e-9) {
			t.Errorf("the loss %g is exceeded with probability %.15g, %v", loss, back, err)
		}
	}
	for _, delta := range []float64{1e-100, 1e-12, 0.1} {
		loss, err := LossAt(2, delta)
		if err != nil {
			t.Fatal(err)
		}
		z := loss/2 - 1
		if got, _ := bigTail(bigOf(z)).Float64(); math.Abs(got/delta-1) > 1e-8 || got > delta {
			t.Errorf("delta %g: %g", delta, got)
		}
	}
	if tail, err := LossTail(0, 0); tail != 0 || err != nil {
		t.Error(tail, err)
	}
	for _, err := range []error{
		second(LossTail(-1, 1)), second(LossTail(math.NaN(), 1)), second(LossTail(1, -1)), second(LossTail(1, math.NaN())),
		second(LossAt(-1, 1e-5)), second(LossAt(1, 0)), second(LossAt(1, 0.5)), second(LossAt(math.Inf(1), 1e-5)),
	} {
		if !errors.Is(err, ErrParam) {
			t.Error(err)
		}
	}
}

func second(_ float64, err error) error { return err }

// Through the real mechanism: neighbours at the distance of the bound, and how often the
// odds move by more than e^epsilon. "Except with probability delta" would be 4 of
// 400,000; it is LossTail.
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
	tail, err := LossTail(c.Mu(), epsilon)
	if err != nil {
		t.Fatal(err)
	}
	mean := tail * float64(runs)
	if d := (float64(moved) - mean) / math.Sqrt(mean); math.Abs(d) > 6.109 || float64(moved) < 20*delta*float64(runs) {
		t.Errorf("the odds moved %d times, %.1f standard deviations from %.1f", moved, d, mean)
	}
	t.Logf("%d of %d, delta alone would be %.0f", moved, runs, delta*float64(runs))
}
