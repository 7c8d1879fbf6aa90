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
	model  string // the file
	by     *supervised.Map
	recipe supervised.Recipe
	about  supervised.About
	in     input
	out    string
	rows   int
	zeros  int // rows that were placed nowhere
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
		return a.place(ctx, engine, m, r.Rows, r.Cols, func(dst blas32.General) (int, error) { return r.Read(dst.Data) })
	})
}

// runText places rows of text, which are in memory before the first is placed.
func (a *application) runText(ctx context.Context, engine *privatemail.Engine, m meter) error {
	x, _, release, err := readRows(ctx, a.in, "")
	if err != nil {
		return err
	}
	defer release()
	if err := a.sameColumns(); err != nil {
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

// sameColumns refuses text whose columns have other names than those the model was made from.
func (a *application) sameColumns() error {
	made := input{features: a.model, read: &reading{columns: a.about.ColumnNames}}
	return sameColumns(made, a.in)
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
	done := 0
	var own error // of reading and placing; what fails in writing has the name of the output
	err := formats.WriteRows(ctx, a.out, rows, a.by.Columns(), func(put func([]float32) error) error {
		var writing error
		err := a.by.Stream(ctx, engine, read, func(z blas32.General) error {
			if writing = put(z.Data[:z.Rows*z.Cols]); writing != nil {
				return writing
			}
			if a.by.UnitImages {
				a.zeros += zeroRows(z)
			}
			done += z.Rows
			m.report(privatemail.Progress{Stage: "apply", Done: done, Total: rows})
			return nil
		})
		if writing == nil {
			own = err
		}
		return err
	})
	if own != nil && !errors.Is(own, context.Canceled) {
		return explain(own, a.in)
	}
	return err
}
