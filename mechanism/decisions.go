package mechanism

import (
	"io"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// This file holds the small decisions that published mechanisms have got wrong.
// .ci/mutants gets them wrong one at a time (.ci/mutate/noise.txt), and the tests
// have to notice.

// classicalHolds reports whether the classical rule is proved.
func classicalHolds(epsilon float64) bool { return epsilon < 1 }

// classicalMultiplier is the classical rule for a sensitivity of one.
func classicalMultiplier(epsilon, delta float64) float64 {
	return math.Sqrt(2*math.Log(1.25/delta)) / epsilon
}

// noiseMultiplier is the standard deviation per sensitivity. Delta is for the
// whole matrix and does not depend on the number of coordinates.
func noiseMultiplier(p CalibrationSettings) (float64, error) {
	return p.Rule.Multiplier(p.Epsilon, p.Delta)
}

// totalSensitivity is the Frobenius sensitivity of the computed matrix on the
// grid, and the grid's part of it. In each of the two data sets rounding moves
// a coordinate by at most half a step.
func totalSensitivity(b sensitivity.Bound, step float64) (total, gridError float64) {
	gridError = step * up(math.Sqrt(coordinates(b)))
	return up(b.Value() + gridError), gridError
}

// deviation is the standard deviation of the noise, not the variance.
func deviation(multiplier, sensitivity float64) float64 { return up(multiplier * sensitivity) }

// drawSeeds fills the seeds in order.
func drawSeeds(source io.Reader, seeds []seed) error {
	for i := range seeds {
		if _, err := io.ReadFull(source, seeds[i][:]); err != nil {
			return err
		}
	}
	return nil
}

// seedOf returns the seed of a chunk, which no other chunk uses.
func seedOf(seeds []seed, chunk int) *seed { return &seeds[chunk] }

// half is added before rounding down, in units of 2^-64.
const half = 1 << 63

// perturb writes the grid points of x from coordinate lo up to hi, each with
// its own noise. A value is rounded before noise is added: then the sum is the
// ideal noise around a grid point, rounded, for every value.
func perturb(dst []int64, x blas64.General, lo, hi int, c Calibration, normal *sampler) {
	row, column := lo/x.Cols, lo%x.Cols
	for i := lo; i < hi; i++ {
		dst[i] = onGrid(nearest(x.Data[row*x.Stride+column], c.step), normal.draw(c.multiple))
		if column++; column == x.Cols {
			row, column = row+1, 0
		}
	}
}

// nearest returns the grid point nearest to x, clamped to 2^51 steps. Dividing
// by a power of two is exact. Any rounding by at most half a step would do.
func nearest(x, step float64) int64 {
	x = max(-clampSteps*step, min(clampSteps*step, x))
	if math.IsNaN(x) {
		return 0
	}
	return int64(math.RoundToEven(x / step))
}

// spendFirst runs draw only after the budget has written the spend down, and has
// confirmed it for this release. After that nothing is given back.
func spendFirst(budget Budget, unit Unit, id [16]byte, spend Spend, draw func() error) (Receipt, error) {
	if err := spend.check(); err != nil {
		return Receipt{}, err
	}
	receipt, err := budget.Reserve(unit, id, spend)
	if err == nil {
		err = checkReceipt(budget, receipt, id)
	}
	if err != nil {
		return Receipt{}, err
	}
	return receipt, draw()
}
