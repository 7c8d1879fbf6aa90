package accounts

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// The loss against values that were computed from power series in 1200-bit arithmetic, and
// the figures that the pages print.
func TestLoss(t *testing.T) {
	for _, c := range []struct{ mu, epsilon, tail, times float64 }{
		{0.032520784056174333, 0.1, 0.0011115122160885875182, 111}, {0.26805112321105051, 1, 0.0001611980753233530567, 16},
	} {
		const delta = 1e-5
		if multiplier, err := mechanism.Analytic.Multiplier(c.epsilon, delta); err != nil || math.Abs(c.mu*multiplier-1) > 1e-12 {
			t.Fatalf("epsilon %g: multiplier %.17g, %v", c.epsilon, multiplier, err)
		}
		tail := lossTail(c.mu, c.epsilon)
		if math.Round(tail/delta) != c.times || math.Abs(tail-c.tail) > 1e-12*c.tail {
			t.Errorf("tail %.15g, want %.15g, which is %g delta", tail, c.tail, c.times)
		}
		loss := lossAt(c.mu, delta)
		if loss <= c.epsilon {
			t.Errorf("loss %g at delta %g", loss, delta)
		}
		if back := lossTail(c.mu, loss); back > delta || back < delta*(1-1e-9) {
			t.Errorf("the loss %g is exceeded with probability %.15g", loss, back)
		}
	}
	for delta, z := range map[float64]float64{
		1e-100: 21.273453560965324294, 1e-12: 7.0344838253011319326, 1e-5: 4.2648907939228246102, 0.1: 1.2815515655446004353,
	} {
		if got, want := lossAt(2, delta), 2+2*z; got < want || got > want*(1+1e-11) {
			t.Errorf("delta %g: %.17g, want %.17g or a little more", delta, got, want)
		}
	}
	if tail := lossTail(0, 0); tail != 0 {
		t.Error(tail)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, p := range []float64{
		lossTail(-1, 1), lossTail(nan, 1), lossTail(inf, 1), lossTail(1, -1), lossTail(1, nan),
	} {
		if p != 1 {
			t.Errorf("out of range: probability %g", p)
		}
	}
	for _, loss := range []float64{lossAt(-1, 1e-5), lossAt(1, 0), lossAt(1, 0.5), lossAt(1, nan), lossAt(inf, 1e-5), lossAt(nan, 1e-5)} {
		if loss != inf {
			t.Errorf("out of range: loss %g", loss)
		}
	}
}
