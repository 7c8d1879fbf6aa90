package fit

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// first is the file that has the embedding before others are written.
func (f *fitFlags) first() string { return cmp.Or(f.out, f.modelOut) }

// late says of an error that the embedding has been written before.
func (f *fitFlags) late(err error) error {
	return fmt.Errorf("%w (the embedding is in %s already)", err, f.first())
}

// write writes the files: ranks write points together, and rank 0 the rest.
func (f *fitFlags) write(ctx context.Context, ranks *par.Ranks, fit *supervised.Model, queries blas32.General) error {
	if f.out != "" {
		if err := files.WritePoints(ctx, ranks, f.out, fit.X); err != nil {
			return err
		}
	}
	if f.modelOut != "" {
		err := files.OnFirst(ctx, ranks, func() error { return fit.Save(ctx, f.modelOut, f.about) })
		if err != nil && f.out != "" {
			return f.late(err)
		} else if err != nil {
			return err
		}
	}
	if queries.Rows > 0 {
		if err := files.WritePoints(ctx, ranks, f.queriesOut, queries); err != nil {
			return f.late(err)
		}
	}
	if f.mapOut != "" {
		m := fit.Map.Affine().RawMatrix()
		if err := files.OnFirst(ctx, ranks, func() error { return formats.WriteMatrix(ctx, f.mapOut, m.Rows, m.Cols, m.Data) }); err != nil {
			return f.late(err)
		}
	}
	return nil
}

// aboutRows is what a model says of the rows that it was made from.
func aboutRows(in files.Input, x blas32.General, y []int32) supervised.About {
	about := supervised.About{Features: in.Features, Labels: in.Labels, Rows: x.Rows, Columns: x.Cols}
	classes := map[int32]bool{}
	for _, label := range y {
		if label >= 0 {
			about.Labelled++
			classes[label] = true
		}
	}
	about.Classes = len(classes)
	return about
}
