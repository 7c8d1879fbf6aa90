package apply

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/predictions"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// classing predicts the classes of rows that a model places.
type classing struct {
	predictions.Predictions
	model string // the file
	out   string
	by    *supervised.Voter
	k     int
	zeros bool // a row of zeros has no direction, and no class
}

// openClassing prepares the prediction of classes by the rows of a model, which may be mapped.
func openClassing(ctx context.Context, e *privatemail.Engine, path string, s *supervised.Saved) (*classing, error) {
	c := &classing{model: path, Predictions: predictions.Predictions{Names: s.Model.ClassNames}, zeros: s.Model.Map.UnitImages}
	err := s.Reading(ctx, func() (err error) {
		c.by, err = s.Model.Voter(ctx, e)
		return err
	})
	if errors.Is(err, supervised.ErrNoClasses) {
		return nil, fmt.Errorf("%s: %w: it was written by an earlier version; make it again with 'privatemail fit'", path, supervised.ErrNoClasses)
	}
	return c, err
}

// ReadLabels reads the labels of n rows, if there are any.
func (c *classing) readLabels(ctx context.Context, in files.Input, n int) error {
	if c == nil || in.Labels == "" {
		return nil
	}
	y, err := files.ReadLabels(ctx, in, n, " (-1 for none)")
	if err != nil {
		return err
	}
	return c.take(in, y)
}

// take takes the labels of the rows, nil for none, and numbers them as the model does.
func (c *classing) take(in files.Input, y []int32) error {
	if c == nil || !predictions.AnyLabel(y) {
		return nil
	}
	here := in.ClassNames()
	if (here == nil) != (c.Names == nil) {
		return fmt.Errorf("%s: its labels and those of the model %s are names in one and numbers in the other", in.Labels, c.model)
	}
	c.Labels = predictions.NumberAs(y, here, c.Names)
	return nil
}

// write hands the function that predicts classes of images to work, and writes their file. A nil
// classing does nothing.
func (c *classing) write(ctx context.Context, e *privatemail.Engine, work func(classify func(ctx context.Context, z blas32.General) error) error) error {
	if c == nil {
		return work(func(context.Context, blas32.General) error { return nil })
	}
	return predictions.WritePredictions(ctx, c.out, func(put func([]byte) error) error {
		var to supervised.Votes
		var line []byte
		return work(func(ctx context.Context, z blas32.General) error {
			to.Labels, to.Shares = resize(to.Labels, z.Rows), resize(to.Shares, z.Rows)
			if err := c.by.Vote(ctx, e, z, c.k, to); err != nil {
				return err
			}
			for i, class := range to.Labels {
				share := to.Shares[i]
				if c.zeros && files.ZeroRow(files.RowsOf(z, i, i+1)) >= 0 {
					class, share = -1, 0
				}
				line = c.Add(line[:0], class, float64(share))
				if err := put(line); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// resize returns v with another length.
func resize[T any](v []T, n int) []T {
	if n > cap(v) {
		return make([]T, n)
	}
	return v[:n]
}
