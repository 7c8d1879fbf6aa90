package post

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// Points returns the released matrix Q + Step Grid, or ErrScale where float64
// cannot hold it.
func Points(ctx context.Context, r *release.Release) (*mat.Dense, error) {
	if err := check(r); err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	q, err := points(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	return mat.NewDense(q.Rows, q.Cols, q.Data), nil
}

// check refuses a nil release and one that fails release.Check: it may come from
// anywhere.
func check(r *release.Release) error {
	if r == nil {
		return fmt.Errorf("%w: it is nil", release.ErrRelease)
	}
	return r.Check()
}

// points is Points of a checked release.
func points(ctx context.Context, r *release.Release) (blas64.General, error) {
	q, err := iterate.RandomStart(ctx, r.Rows, r.Columns, r.Query.Seed, r.Query.SigmaQ)
	if err != nil {
		return q, err
	}
	for i, v := range r.Grid {
		if q.Data[i] += float64(v) * r.Step; math.IsInf(q.Data[i], 0) {
			return q, fmt.Errorf("%w: row %d is beyond float64", ErrScale, i/r.Columns+1)
		}
	}
	return q, nil
}

// releasedRows returns the released points, centred, in float32.
func releasedRows(ctx context.Context, r *release.Release) (blas32.General, error) {
	released, err := points(ctx, r)
	if err != nil {
		return blas32.General{}, err
	}
	return centred(released)
}

// centred subtracts the column means in float64, where this costs none of the
// digits in which rows differ, before the points become float32.
func centred(raw blas64.General) (blas32.General, error) {
	mean := make([]float64, raw.Cols)
	for i, v := range raw.Data {
		mean[i%raw.Cols] += v / float64(raw.Rows)
	}
	x := blas32.General{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Cols, Data: make([]float32, len(raw.Data))}
	largest := 0.0
	for i, v := range raw.Data {
		v -= mean[i%raw.Cols]
		largest = max(largest, math.Abs(v))
		x.Data[i] = float32(v)
	}
	if !(largest >= 1e-30 && largest <= 1e30) {
		return x, fmt.Errorf("%w: %.3g is the largest, want 1e-30 to 1e30", ErrScale, largest)
	}
	return x, nil
}
