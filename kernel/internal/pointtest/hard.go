package pointtest

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// Hard draws points that are hard for the filters of a search, and says in what way.
func Hard(rng *rand.Rand, n, d int) (p blas32.General, what string) {
	x := make([]float64, n*d)
	row := func(i int) []float64 { return x[i*d:][:d] }
	classes := 1 + rng.IntN(8)
	centres := make([]float64, classes*d)
	for i := range centres {
		centres[i] = rng.NormFloat64() / math.Sqrt(float64(d))
	}
	spread := math.Exp2(-6 * rng.Float64())
	for i := range n {
		class := rng.IntN(classes)
		for c := range row(i) {
			row(i)[c] = centres[class*d+c] + spread*rng.NormFloat64()/math.Sqrt(float64(d))
		}
	}
	switch kind := rng.IntN(8); kind {
	case 0:
		what = "translated"
		// Multiples of 1/16, which stay what they are next to 1e6.
		for i := range x {
			x[i] = 1e6 + math.Round(64*x[i]*math.Sqrt(float64(d)))/16
		}
	case 1:
		what = "zero columns"
		for i := range n {
			clear(row(i)[d-d/3:])
		}
	case 2:
		what = "equal rows"
		for i := n / 2; i < n; i++ {
			copy(row(i), row(rng.IntN(n/2)))
		}
	case 3:
		what = "unit rows"
		for i := range n {
			sum := 0.0
			for _, v := range row(i) {
				sum += v * v
			}
			for c := range row(i) {
				row(i)[c] /= math.Sqrt(sum)
			}
		}
	case 4:
		what = "outliers"
		for range 3 {
			for c := range row(0) {
				row(rng.IntN(n))[c] *= 1e7
			}
		}
	case 5:
		what = "not negative"
		for i := range x {
			x[i] = max(x[i], 0)
		}
	case 6:
		// Pairs whose distances differ by units in the last place.
		what = "around a radius"
		for i := 1; i < n; i++ {
			copy(row(i), row(0))
			c := rng.IntN(d)
			row(i)[c] = row(0)[c] + 0.5 + float64(rng.IntN(5)-2)*0x1p-24
		}
	default:
		what = "classes"
		if rng.IntN(2) == 0 {
			scale := math.Exp2(float64(rng.IntN(180) - 100))
			for i := range x {
				x[i] *= scale
			}
			what = "scaled"
		}
	}
	return blas32.General{Rows: n, Cols: d, Stride: d, Data: Fill(n*d, func(i int) float64 { return x[i] })}, what
}
