package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// queryUnit is the record of query i: every query is another one and is
// released once in a measurement, so there is nothing for a ledger to add up.
func queryUnit(i int) mechanism.Unit {
	return mechanism.Unit{Kind: release.UnitRecord, Name: fmt.Sprintf("query %d", i)}
}

// ballSensitivity is the diameter of a ball, with room for the rounding of the
// clipped norm.
func ballSensitivity(radius float64) float64 { return 2 * radius * (1 + 1e-12) }

// clip scales v to the given length when it is longer.
func clip(v []float64, length float64) {
	var s float64
	for _, e := range v {
		s += e * e
	}
	if norm := math.Sqrt(s); norm > length {
		for j := range v {
			v[j] *= length / norm
		}
	}
}

// noisyRows returns the rows of x, clipped to the given length, each with noise
// of its own: a release of one record a row. sigma is the standard deviation of
// the noise.
func noisyRows(x *mat.Dense, length, epsilon, delta float64) (_ *mat.Dense, sigma float64, _ error) {
	n, d := x.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		series, err := newSeries(mechanism.NoLedger, queryUnit(i), seriesSettings{
			Epsilon: epsilon, Delta: delta, L2Sensitivity: ballSensitivity(length), Vectors: 1, Coordinates: d,
			Protects: mechanism.AnyData(), // whatever is clipped to the ball
		})
		if err != nil {
			return nil, 0, err
		}
		row := mat.Row(nil, i, x)
		clip(row, length)
		noisy, err := series.release(row)
		if err != nil {
			return nil, 0, err
		}
		out.SetRow(i, noisy)
		sigma = series.sigma()
	}
	return out, sigma, nil
}

// noiseFacts says how large the noise on rows is compared with the rows themselves.
func noiseFacts(x *mat.Dense, sigma float64) map[string]float64 {
	n, d := x.Dims()
	return map[string]float64{
		"noise sigma":     sigma,
		"noise to signal": sigma * math.Sqrt(float64(n)*float64(d)) / mat.Norm(x, 2),
	}
}
