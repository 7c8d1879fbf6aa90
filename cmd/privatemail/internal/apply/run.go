package apply

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// application is one run of apply.
type application struct {
	model   string // the file
	by      *supervised.Map
	recipe  supervised.Recipe
	columns files.Named // those that the map takes
	In      files.Input
	Out     string // "" for no file of rows
	rows    int
	zeros   int       // rows that were placed nowhere
	classes *classing // nil where no classes are wanted
}

// Run places the rows and writes them.
func (a *application) Run(ctx context.Context, engine *privatemail.Engine, m progress.Meter) error {
	settings := a.In.FeatureSettings()
	layout, err := settings.ReadLayout(a.In.Features)
	if err != nil {
		return files.AdviseFile(a.In.Features, err)
	}
	if layout != nil {
		return a.runText(ctx, engine, m)
	}
	return formats.StreamMatrix(a.In.Features, mem.DefaultLimit(), func(r *formats.RowReader) error {
		order, err := a.order(ctx, r.Cols)
		if err != nil {
			return err
		}
		if err := a.classes.readLabels(ctx, a.In, r.Rows); err != nil {
			return err
		}
		return a.place(ctx, engine, m, r.Rows, r.Cols, func(dst blas32.General) (int, error) {
			n, err := r.Read(dst.Data)
			if order != nil {
				files.Permute(files.RowsOf(dst, 0, n), order)
			}
			return n, err
		})
	})
}

// order returns where the columns of the map are among those of rows whose names are in another file,
// nil where they stay.
func (a *application) order(ctx context.Context, columns int) ([]int, error) {
	if err := a.In.ReadColumnNames(ctx, columns); err != nil {
		return nil, err
	}
	return files.OrderOf(a.columns, a.In.ColumnsOf())
}

// runText places rows of text, which are in memory before the first is placed.
func (a *application) runText(ctx context.Context, engine *privatemail.Engine, m progress.Meter) error {
	a.In.Read.Like = a.columns
	x, y, release, err := files.ReadRows(ctx, a.In, " (-1 for none)")
	if err != nil {
		return err
	}
	defer release()
	if err := a.classes.take(a.In, y); err != nil {
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
func (a *application) place(ctx context.Context, engine *privatemail.Engine, m progress.Meter, rows, cols int, read func(blas32.General) (int, error)) error {
	switch {
	case rows == 0:
		return files.RefuseNoRows(a.In.Features, 0)
	case cols != a.by.Dim:
		return fmt.Errorf("%s: rows of %d values, but those of the model %s have %d", a.In.Features, cols, a.model, a.by.Dim)
	}
	a.rows = rows
	var own error // of reading and placing; what fails in writing has the name of the output
	err := a.classes.write(ctx, engine, func(classify func(ctx context.Context, z blas32.General) error) error {
		return a.writeRows(ctx, func(put func([]float32) error) error {
			done := 0
			var writing error
			// Votes take their memory besides that of the rows, and do not wait for it.
			err := engine.Reserve(ctx, 0, func(ctx context.Context) error {
				return a.by.Stream(ctx, engine, read, func(z blas32.General) error {
					if writing = put(z.Data[:z.Rows*z.Cols]); writing != nil {
						return writing
					}
					if a.by.UnitImages {
						a.zeros += files.ZeroRows(z)
					}
					if writing = classify(ctx, z); writing != nil {
						return writing
					}
					done += z.Rows
					m.Report(privatemail.Progress{Stage: "apply", Done: done, Total: rows})
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
		return files.Explain(own, a.In)
	}
	return err
}

// writeRows hands what writes the rows to work, which does nothing where they have no file.
func (a *application) writeRows(ctx context.Context, work func(put func([]float32) error) error) error {
	if a.Out == "" {
		return work(func([]float32) error { return nil })
	}
	return formats.WriteRows(ctx, a.Out, a.rows, a.by.Columns(), work)
}
