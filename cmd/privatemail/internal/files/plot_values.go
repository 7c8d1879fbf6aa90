package files

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

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// valueName is what the legend calls the values that colours follow.
func (f *PlotFlags) valueName() string {
	if f.By == "" {
		return ""
	}
	if _, err := strconv.Atoi(f.By); err == nil {
		return "column " + f.By
	}
	return filepath.Base(f.By)
}

// keepValues reads the values that colours follow, and keeps those of the rows that are drawn.
func (f *PlotFlags) keepValues(ctx context.Context, in Input, x blas32.General) error {
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
		return fmt.Errorf("-colour-by %s: no row has a value", f.By)
	}
	return nil
}

// readValues returns the value of each row: of a file of this name, if there is one, or else of a
// column of the features.
func (f *PlotFlags) readValues(ctx context.Context, in Input, x blas32.General) (value func(row int) float64, release func(), err error) {
	path, settings := f.By, formats.TableSettings{MissingNaN: true, SkipLabels: true}
	file, _ := formats.SplitArray(f.By)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		number, failed := strconv.Atoi(f.By)
		layout, err := new(formats.TableSettings).ReadLayout(in.Features)
		switch {
		case layout == nil && err == nil && failed == nil && number >= 1 && number <= x.Cols:
			return func(row int) float64 { return float64(x.Data[row*x.Stride+number-1]) }, func() {}, nil
		case layout == nil && err == nil && failed == nil:
			return nil, nil, cli.Usagef("-colour-by %s: %s has columns 1 to %d", f.By, in.Features, x.Cols)
		case layout == nil:
			return nil, nil, cli.Usagef("-colour-by %s: there is no such file; columns of %s are numbers from 1 to %d", f.By, in.Features, x.Cols)
		}
		path, settings.Columns = in.Features, f.By
		if in.Read != nil {
			settings.Header = in.Read.text.Header
		}
	} else if _, err := (&formats.TableSettings{Columns: "2"}).ReadLayout(path); errors.Is(err, formats.ErrColumn) {
		settings.Columns = "1" // the only one of text, whatever it is called
	}
	t, err := progress.Await(ctx, func() (*formats.Table, error) { return formats.ReadTable(ctx, path, &settings) })
	if err != nil {
		if errors.Is(err, formats.ErrColumn) {
			return nil, nil, cli.Usagef("-colour-by %s: there is no such file, and no such column: %w", f.By, err)
		}
		return nil, nil, fmt.Errorf("-colour-by: %w", Missing(path, err))
	}
	switch {
	case t.Cols != 1:
		err = fmt.Errorf("-colour-by %s: %d columns, want one", f.By, t.Cols)
	case t.Rows != x.Rows:
		err = fmt.Errorf("-colour-by %s: %d values, but %s has %d rows; every row needs one, and NA stands for none (blank lines do not count)", f.By, t.Rows, in.Features, x.Rows)
	}
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	return func(row int) float64 { return float64(t.Data[row]) }, func() { t.Close() }, nil
}
