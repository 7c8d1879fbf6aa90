// Package figures has the few statistics that pmbench takes of measurements, and the forms
// in which numbers are printed.
package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Median returns the middle of the values, which it sorts.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Quantile returns a quantile of the values, which it sorts, by linear
// interpolation; NaN without numbers.
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

// Finite returns a pointer for JSON, nil for NaN and infinities.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Mean returns the mean of some numbers, NaN without numbers.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Duration writes seconds in the unit that suits them.
func Duration(seconds float64) string {
	switch {
	case seconds >= 1:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds >= 1e-3:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.3g us", seconds*1e6)
}

// Optional writes a number, "" when it is nil.
func Optional(v *float64, format string) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

// Size writes bytes in MiB, "" below one.
func Size(bytes int64) string {
	if bytes < 1<<20 {
		return ""
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// Number writes a number with six digits.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Decimal writes bytes in the decimal unit that suits them, 0 for 0 bytes.
func Decimal(bytes float64) string {
	switch {
	case bytes == 0:
		return "0"
	case bytes >= 1e9:
		return fmt.Sprintf("%.3g GB", bytes/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.3g MB", bytes/1e6)
	}
	return fmt.Sprintf("%.3g kB", bytes/1e3)
}
