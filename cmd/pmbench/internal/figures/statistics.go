package figures

import (
	"math"
	"slices"
)

// Median returns the middle of the values, which it sorts.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Quantile returns a quantile of the values, which it sorts, by linear
// interpolation; NaN of none.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// Finite returns a pointer for JSON, nil for what is no number.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Mean returns the mean of some numbers, NaN of none.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
