package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// application is one run of apply.
type application struct {
	model   string // the file
	by      *supervised.Map
	recipe  supervised.Recipe
	columns named // those that the map takes
	in      input
	out     string // "" for no file of rows
	rows    int
	zeros   int       // rows that were placed nowhere
	classes *classing // nil where no classes are wanted
}

// run places the rows and writes them.
func (a *application) run(ctx context.Context, engine *privatemail.Engine, m meter) error {
	settings := a.in.featureSettings()
	text, err := formats.ReadLayout(a.in.features, &settings)
	if err != nil {
		return adviseFile(a.in.features, err)
	}
	if text != nil {
		return a.runText(ctx, engine, m)
	}
	return formats.StreamMatrix(a.in.features, mem.Budget(), func(r *formats.RowReader) error {
		order, err := a.order(ctx, r.Cols)
		if err != nil {
			return err
		}
		if err := a.classes.readLabels(ctx, a.in, r.Rows); err != nil {
			return err
		}
		return a.place(ctx, engine, m, r.Rows, r.Cols, func(dst blas32.General) (int, error) {
			n, err := r.Read(dst.Data)
			if order != nil {
				permute(rowsOf(dst, 0, n), order)
			}
			return n, err
		})
	})
}

// order returns where the columns of the map are among those of rows whose names stand beside them,
// nil where they stay.
func (a *application) order(ctx context.Context, columns int) ([]int, error) {
	if err := a.in.readColumnNames(ctx, columns); err != nil {
		return nil, err
	}
	return orderOf(a.columns, a.in.columnsOf())
}

// runText places rows of text, which are in memory before the first is placed.
func (a *application) runText(ctx context.Context, engine *privatemail.Engine, m meter) error {
	a.in.read.like = a.columns
	x, y, release, err := readRows(ctx, a.in, " (-1 for none)")
	if err != nil {
		return err
	}
	defer release()
	if err := a.classes.take(a.in, y); err != nil {
		return err
	}
	left := x.Data
	return a.place(ctx, engine, m, x.Rows, x.Cols, func(dst blas32.General) (int, error) {
		n := copy(dst.Data, left)
		left = left[n:]
		if n == 0 {
			return 0, io.EOF
		}
		return n / x.Cols, nil
	})
}

// place places rows that read hands over block by block.
func (a *application) place(ctx context.Context, engine *privatemail.Engine, m meter, rows, cols int, read func(blas32.General) (int, error)) error {
	switch {
	case rows == 0:
		return refuseNoRows(a.in.features, 0)
	case cols != a.by.Dim:
		return fmt.Errorf("%s: rows of %d values, but those of the model %s have %d", a.in.features, cols, a.model, a.by.Dim)
	}
	a.rows = rows
	var own error // of reading and placing; what fails in writing has the name of the output
	err := a.classes.write(ctx, engine, func(tell func(ctx context.Context, z blas32.General) error) error {
		return a.writeRows(ctx, func(put func([]float32) error) error {
			done := 0
			var writing error
			// Votes take their memory beside that of the rows, and do not wait for it.
			err := engine.Reserve(ctx, 0, func(ctx context.Context) error {
				return a.by.Stream(ctx, engine, read, func(z blas32.General) error {
					if writing = put(z.Data[:z.Rows*z.Cols]); writing != nil {
						return writing
					}
					if a.by.UnitImages {
						a.zeros += zeroRows(z)
					}
					if writing = tell(ctx, z); writing != nil {
						return writing
					}
					done += z.Rows
					m.report(privatemail.Progress{Stage: "apply", Done: done, Total: rows})
					return nil
				})
			})
			if writing == nil {
				own = err
			}
			return err
		})
	})
	if own != nil && !errors.Is(own, context.Canceled) {
		return explain(own, a.in)
	}
	return err
}

// writeRows hands what writes the rows to work, which does nothing where they have no file.
func (a *application) writeRows(ctx context.Context, work func(put func([]float32) error) error) error {
	if a.out == "" {
		return work(func([]float32) error { return nil })
	}
	return formats.WriteRows(ctx, a.out, a.rows, a.by.Columns(), work)
}
