package mechanism

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// alarm is the chance of a false alarm of one statistic.
const alarm = 1e-9

// The critical values at that chance: of a standard normal statistic, and of
// sqrt(N) times the Kolmogorov-Smirnov distance.
const (
	criticalNormal = 6.10941
	criticalKS     = 3.27234
)

// chiSquare returns the statistic of counts against expected counts and whether
// it is beyond the critical value. Cells expected fewer than ten times are
// combined.
func chiSquare(counts, expected []float64) (statistic float64, degrees int, reject bool) {
	var restCount, restExpected float64
	cells := 0
	for i, e := range expected {
		if e < 10 {
			restCount += counts[i]
			restExpected += e
			continue
		}
		statistic += (counts[i] - e) * (counts[i] - e) / e
		cells++
	}
	if restExpected >= 10 {
		statistic += (restCount - restExpected) * (restCount - restExpected) / restExpected
		cells++
	} else if restCount > 60 {
		return math.Inf(1), cells, true // a Poisson number of mean 10 has chance below 1e-25
	}
	return statistic, cells - 1, distuv.ChiSquared{K: float64(cells - 1)}.Survival(statistic) < alarm
}

func TestCriticalValues(t *testing.T) {
	for _, test := range []struct{ degrees, value float64 }{{255, 414.545}, {63, 155.075}, {15, 73.630}} {
		if p := (distuv.ChiSquared{K: test.degrees}).Survival(test.value); math.Abs(p/alarm-1) > 1e-3 {
			t.Errorf("chi-square %g at %g degrees has chance %g", test.value, test.degrees, p)
		}
	}
	if p := math.Erfc(criticalNormal / math.Sqrt2); math.Abs(p/alarm-1) > 1e-3 {
		t.Errorf("|z| > %g has chance %g", criticalNormal, p)
	}
	if p := 2 * math.Exp(-2*criticalKS*criticalKS); math.Abs(p/alarm-1) > 1e-3 {
		t.Errorf("KS beyond %g has chance %g", criticalKS, p)
	}
}

// notNormal returns the statistic that distinguishes z from independent
// standard normal numbers, "" if none does.
func notNormal(z []float64) string {
	n := float64(len(z))
	var first, second, fourth float64
	probability := make([]float64, len(z))
	bins := make([]float64, 256)
	expected := make([]float64, 256)
	for i, v := range z {
		square := v * v
		first += v
		second += square - 1
		fourth += square*square - 3
		p := math.Erfc(-v/math.Sqrt2) / 2
		probability[i] = p
		bins[min(255, int(p*256))]++
	}
	for i := range expected {
		expected[i] = n / 256
	}
	slices.Sort(probability)
	distance := 0.0
	for i, p := range probability {
		distance = max(distance, p-float64(i)/n, float64(i+1)/n-p)
	}
	_, _, skewed := chiSquare(bins, expected)
	switch {
	case math.Abs(first)/math.Sqrt(n) > criticalNormal:
		return "mean"
	case math.Abs(second)/math.Sqrt(2*n) > criticalNormal:
		return "variance"
	case math.Abs(fourth)/math.Sqrt(96*n) > criticalNormal:
		return "kurtosis"
	case skewed:
		return "bins"
	case distance*math.Sqrt(n) > criticalKS:
		return "Kolmogorov-Smirnov"
	}
	return ""
}

// correlation returns the correlation of a and b times the root of their
// length, given that both have mean zero and variance one.
func correlation(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum / math.Sqrt(float64(len(a)))
}
