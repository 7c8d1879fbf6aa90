package evaluate

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Coverage is the nominal coverage of all intervals of this package.
const Coverage = 0.95

// An Interval is an estimate with its confidence interval, whose nominal coverage is
// Coverage.
type Interval struct {
	Mean, Low, High float64
	// Deviation is the standard deviation of the values behind the mean, 0 for
	// one value.
	Deviation float64
	// Values is the number of values.
	Values int
}

// meanInterval returns the mean of independent values, such as one figure under
// several seeds, with Student's t interval
//
//	mean +- t s / sqrt(m),
//
// s the standard deviation and t the quantile of m - 1 degrees of freedom. One
// value has no such interval: Low and High are then infinite. No values give
// NaN.
func meanInterval(values []float64) Interval {
	m := len(values)
	i := Interval{Mean: stat.Mean(values, nil), Values: m}
	if m < 2 {
		i.Low, i.High = math.Inf(-1), math.Inf(1)
		return i
	}
	i.Deviation = stat.StdDev(values, nil)
	t := distuv.StudentsT{Sigma: 1, Nu: float64(m - 1)}.Quantile((1 + Coverage) / 2)
	half := t * i.Deviation / math.Sqrt(float64(m))
	i.Low, i.High = i.Mean-half, i.Mean+half
	return i
}

// shareInterval returns Wilson's interval for a share of n independent trials,
// such as the recall of n queries. Unlike the normal one it stays within [0, 1]
// and does not shrink to a point when all trials agree. It is the set of p with
//
//	|share - p| <= z sqrt(p (1-p) / n).
func shareInterval(share float64, n int) Interval {
	z := distuv.UnitNormal.Quantile((1 + Coverage) / 2)
	m := float64(n)
	centre := (share + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(share*(1-share)/m+z*z/(4*m*m))
	// Rounding must not keep the limits from the share where they meet it.
	return Interval{
		Mean: share, Low: min(share, max(0, centre-half)), High: max(share, min(1, centre+half)),
		Deviation: math.Sqrt(share * (1 - share)), Values: n,
	}
}
