package mechanism

import (
	"io"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/noise"
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
func drawSeeds(source io.Reader, seeds []noise.Seed) error {
	for i := range seeds {
		if _, err := io.ReadFull(source, seeds[i][:]); err != nil {
			return err
		}
	}
	return nil
}

// seedOf returns the seed of a chunk, which no other chunk uses.
func seedOf(seeds []noise.Seed, chunk int) *noise.Seed { return &seeds[chunk] }

// perturb writes the grid points of x from coordinate lo up to hi, each with
// its own noise. A value is rounded before noise is added: then the sum is the
// ideal noise around a grid point, rounded, for every value.
func perturb(dst []int64, x blas64.General, lo, hi int, c Calibration, normal *noise.Sampler) {
	row, column := lo/x.Cols, lo%x.Cols
	for i := lo; i < hi; i++ {
		dst[i] = noise.OnGrid(noise.Nearest(x.Data[row*x.Stride+column], c.step), normal.Draw(c.multiple))
		if column++; column == x.Cols {
			row, column = row+1, 0
		}
	}
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
