package margin

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// What a class is promised follows from its masses: the best over the radii, less what is unseen,
// and nothing where what places are off their images leaves no room.
func TestBoundsOfAClass(t *testing.T) {
	bounds := func(f Interpolation, apart, off float64) *Class {
		d := &diagnosis{Embedding: &Embedding{Places: blas32.General{Cols: 2}, Interpolation: f}, lipschitz: f.Lipschitz}
		c := &Class{Rows: 400, Gamma: 4, Apart: apart, Off: off}
		d.bounds(c, &masses{counts: []int{1, 2}, eta: []float64{.01, .6}, delta: []float64{.1, .2}, unseen: .1}, []float64{.1, .3})
		return c
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	const l = 2
	formula := func(eta, delta, spread, off float64) (best float64) {
		epsilon := (2 - l*delta - spread - off) / math.Sqrt2
		for q := 1.; q < 400*eta; q++ {
			best = max(best, 1-math.Exp(-2*(400*eta-q)*(400*eta-q)/400)-4*math.Exp(-q*epsilon*epsilon/(2*l*l*delta*delta)))
		}
		return best
	}
	linear := Interpolation{Lipschitz: l}
	for _, off := range []float64{0, .5, 1} {
		c := bounds(linear, 0, off)
		if want := .9 * formula(.6, .2, .3, off); !near(c.Theorem.Accuracy, want) || c.Theorem.Delta != .2 || !near(c.Theorem.Epsilon*math.Sqrt2, 2-.4-.3-off) || !c.met {
			t.Errorf("off %g: %+v, want %g", off, c.Theorem, want)
		}
		if want := .9 * (1 - math.Pow(.4, 400)); !near(c.Direct.Accuracy, want) || c.Direct.Q != 1 {
			t.Errorf("off %g: %+v, want %g", off, c.Direct, want)
		}
	}
	// Only the smaller balls are left, and then none.
	if c := bounds(linear, 0, 1.7); c.Theorem.Accuracy != 0 || c.met || !near(c.Direct.Accuracy, .9*(1-math.Pow(.99, 400))) {
		t.Errorf("off 1.7: %+v", c)
	}
	if c := bounds(linear, 0, 1.8); c.Direct.Accuracy != 0 || c.met {
		t.Errorf("off 1.8: %+v", c)
	}
	// The extension by neighbours needs all of them within delta, and no row of another class.
	tail := func(n int, p float64, k int) float64 {
		below, term := 0.0, math.Pow(1-p, float64(n))
		for j := range k {
			below += term
			term *= float64(n-j) / float64(j+1) * p / (1 - p)
		}
		return 1 - below
	}
	three := Interpolation{Neighbours: 3}
	if c := bounds(three, 9, 0); c.Theorem.Accuracy != 0 || !near(c.Direct.Accuracy, .9*tail(400, .6, 3)) || c.Direct.Q != 3 {
		t.Errorf("%+v", c)
	}
	if c := bounds(three, .3, 0); !near(c.Direct.Accuracy, .9*tail(400, .01, 3)) {
		t.Errorf("%+v, want %g", c, .9*tail(400, .01, 3))
	}
	if c := bounds(three, .2, 0); c.Direct.Accuracy != 0 {
		t.Errorf("%+v", c)
	}
	if c := bounds(three, 9, 1.8); !near(c.Direct.Accuracy, .9*tail(400, .01, 3)) {
		t.Errorf("%+v", c)
	}
}
