package supervised

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// reserved runs work while what Fit holds beside its graphs and steps is reserved from the
// budget of the Engine. Where memory is missing that others hold, work is run anew later.
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

// ownBytes is what the copies of n rows of d columns take, in float32, and square matrices of
// float64.
func ownBytes(n, d float64, s *Settings) float64 {
	return 4*d*copies(n, s) + 8*squareMatrices*d*d
}

// squareMatrices is how many square matrices there are at a time: a covariance of each of three
// parts, one with a ridge, its factor and the transpose of that.
const squareMatrices = 6

// copies is how many rows there are at a time in copies of n rows: prepared rows, their images
// and where steps take them, or what is measured. That is up to 18 copies of few rows, in
// three parts and prepared in four ways, 6 of the 4000 that recipes are compared on, and
// measuredCopies of those on which the recipe is measured.
func copies(n float64, s *Settings) float64 {
	all := 3 * n
	if s.OnlyX {
		all = 2 * n
	}
	if s.Unmeasured {
		return all
	}
	return max(all, min(18*n, 24_000), measuredCopies*min(n, measuredRows))
}

// measuredRows is the most rows on which a recipe is measured, and measuredCopies is how many
// copies of them there are: the rows, prepared, their images, and where steps take them.
const measuredRows, measuredCopies = searchedRows + heldRows, 4
