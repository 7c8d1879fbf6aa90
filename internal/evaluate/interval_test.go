package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The t quantile of 4 degrees of freedom is 2.776445, tabulated everywhere.
func TestMeanInterval(t *testing.T) {
	i := meanInterval([]float64{1, 2, 3, 4, 5})
	half := 2.776445 * math.Sqrt(2.5) / math.Sqrt(5)
	if i.Mean != 3 || i.Values != 5 || math.Abs(i.Deviation-math.Sqrt(2.5)) > 1e-15 ||
		math.Abs(i.High-3-half) > 1e-6 || math.Abs(3-i.Low-half) > 1e-6 {
		t.Errorf("%+v, want 3 +- %g", i, half)
	}
	if one := meanInterval([]float64{7}); one.Mean != 7 || !math.IsInf(one.Low, -1) || !math.IsInf(one.High, 1) {
		t.Errorf("one value: %+v", one)
	}
}

// Wilson's limits solve (share - p)^2 = z^2 p (1-p) / n.
func TestShareInterval(t *testing.T) {
	const z = 1.959963984540054
	for _, n := range []int{1, 10, 397} {
		for _, share := range []float64{0, 0.1, 0.5, 1} {
			i := shareInterval(share, n)
			for _, p := range []float64{i.Low, i.High} {
				if p == 0 && share == 0 || p == 1 && share == 1 {
					continue
				}
				if got, want := (share-p)*(share-p), z*z*p*(1-p)/float64(n); math.Abs(got-want) > 1e-12 {
					t.Errorf("share %g of %d: limit %g, %g against %g", share, n, p, got, want)
				}
			}
			if !(i.Low <= share && share <= i.High && i.Low >= 0 && i.High <= 1) {
				t.Errorf("share %g of %d: %+v", share, n, i)
			}
		}
	}
}

// Both intervals hold the truth about as often as they say. Fixed numbers.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials = 4000
	means, shares := 0, 0
	for range trials {
		values := make([]float64, 5)
		for j := range values {
			values[j] = rng.NormFloat64()
		}
		if i := meanInterval(values); i.Low <= 0 && i.High >= 0 {
			means++
		}
		hits := 0
		for range 100 {
			if rng.Float64() < 0.3 {
				hits++
			}
		}
		if i := shareInterval(float64(hits)/100, 100); i.Low <= 0.3 && i.High >= 0.3 {
			shares++
		}
	}
	for name, n := range map[string]int{"Student": means, "Wilson": shares} {
		if share := float64(n) / trials; share < 0.93 || share > 0.97 {
			t.Errorf("%s covers %.3f", name, share)
		}
	}
}
