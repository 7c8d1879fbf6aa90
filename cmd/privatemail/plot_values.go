package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// valueName is what the legend calls the values that colours follow.
func (f *plotFlags) valueName() string {
	if f.by == "" {
		return ""
	}
	if _, err := strconv.Atoi(f.by); err == nil {
		return "column " + f.by
	}
	return filepath.Base(f.by)
}

// keepValues reads the values that colours follow, and keeps those of the rows that are drawn.
func (f *plotFlags) keepValues(ctx context.Context, in input, x blas32.General) error {
	value, release, err := f.readValues(ctx, in, x)
	if err != nil {
		return err
	}
	defer release()
	f.values = make([]float64, len(f.rows))
	known := false
	for i, row := range f.rows {
		if f.values[i] = value(row); math.IsInf(f.values[i], 0) {
			f.values[i] = math.NaN()
		}
		known = known || !math.IsNaN(f.values[i])
	}
	if !known {
		return fmt.Errorf("-colour-by %s: no row has a value", f.by)
	}
	return nil
}

// readValues returns the value of each row: of a file of this name, if there is one, or else of a
// column of the features.
func (f *plotFlags) readValues(ctx context.Context, in input, x blas32.General) (value func(row int) float64, release func(), err error) {
	path, settings := f.by, formats.TableSettings{MissingNaN: true, SkipLabels: true}
	file, _ := formats.SplitArray(f.by)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		number, failed := strconv.Atoi(f.by)
		text, err := formats.ReadLayout(in.features, nil)
		switch {
		case text == nil && err == nil && failed == nil && number >= 1 && number <= x.Cols:
			return func(row int) float64 { return float64(x.Data[row*x.Stride+number-1]) }, func() {}, nil
		case text == nil && err == nil && failed == nil:
			return nil, nil, cli.Usagef("-colour-by %s: %s has columns 1 to %d", f.by, in.features, x.Cols)
		case text == nil:
			return nil, nil, cli.Usagef("-colour-by %s: there is no such file; columns of %s are numbers from 1 to %d", f.by, in.features, x.Cols)
		}
		path, settings.Columns = in.features, f.by
		if in.read != nil {
			settings.Header = in.read.text.Header
		}
	} else if _, err := formats.ReadLayout(path, &formats.TableSettings{Columns: "2"}); errors.Is(err, formats.ErrColumn) {
		settings.Columns = "1" // the only one of text, whatever it is called
	}
	t, err := await(ctx, func() (*formats.Table, error) { return formats.ReadTable(ctx, path, &settings) })
	if err != nil {
		if errors.Is(err, formats.ErrColumn) {
			return nil, nil, cli.Usagef("-colour-by %s: there is no such file, and no such column: %w", f.by, err)
		}
		return nil, nil, fmt.Errorf("-colour-by: %w", missing(path, err))
	}
	switch {
	case t.Cols != 1:
		err = fmt.Errorf("-colour-by %s: %d columns, and one is wanted", f.by, t.Cols)
	case t.Rows != x.Rows:
		err = fmt.Errorf("-colour-by %s: %d values, but %s has %d rows; every row needs one, and NA stands for none (blank lines do not count)", f.by, t.Rows, in.features, x.Rows)
	}
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	return func(row int) float64 { return float64(t.Data[row]) }, func() { t.Close() }, nil
}
