package supervised

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// reserved runs work while what Fit holds in addition to its graphs and steps is reserved from the
// memory limit of the Engine. Where memory is missing that others hold, work is run again later.
func reserved(ctx context.Context, e *privatemail.Engine, rows blas32.General, s *Settings, work func(context.Context) (*Model, error)) (model *Model, err error) {
	bytes := mem.Saturate(ownBytes(float64(rows.Rows), float64(rows.Cols), s))
	began := false
	err = e.Reserve(ctx, bytes, func(ctx context.Context) (err error) {
		began = true
		model, err = work(ctx)
		return err
	})
	if err != nil && !began {
		err = fmt.Errorf("supervised: fit of %d x %d rows: %w", rows.Rows, rows.Cols, err)
	}
	return model, err
}

// ownBytes is what Fit takes for n rows of d columns: what the choice of a recipe takes, or
// what the model takes afterwards.
func ownBytes(n, d float64, s *Settings) float64 {
	copies := 3.0 // prepared rows, their images, and where steps take them
	if s.OnlyX {
		copies = 2
	}
	made := 4*d*n*copies + squareBytes(n, d, squareMatrices)
	if s.Unmeasured {
		return made
	}
	return max(made, contestBytes(n, d))
}

// contestBytes is what the choice of a recipe takes: copies of the rows that take part, few of
// them or one in each space and of each part of it.
func contestBytes(n, d float64) float64 {
	rows := float64(planOf(int(n), int(d)).rows)
	width := min(rows, d)
	if rows*width <= fewValues {
		return 4*rows*(7*d+18*width) + squareBytes(rows, d, 2*squareMatrices)
	}
	return 4*rows*7*d + squareBytes(rows, d, squareMatrices)
}

// squareMatrices is how many square matrices there are at a time: covariances about two means,
// one with a ridge, its factor, the transpose of that, and the inverse.
const squareMatrices = 6

// squareBytes is what a number of square matrices of float64 take, which have a row for each column
// of the rows, or for each row where there are fewer: then there is a moved copy of the rows, too,
// and a matrix that leads back.
func squareBytes(n, d float64, matrices int) float64 {
	bytes := 8 * float64(matrices) * min(n, d) * min(n, d)
	if n < d {
		bytes += (4 + 2*8) * n * d
	}
	return bytes
}
