package files

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// PlotFlags draw the rows before and after an embedding. Where no plot is wanted, their
// methods do nothing.
type PlotFlags struct {
	File   string
	By     string // what colours follow in place of classes; "" where nothing does
	title  string
	rows   []int // those that are drawn
	total  int
	before *plot.Plane
	values []float64 // of the rows that are drawn, NaN for none; nil without -colour-by
	labels []int32   // of the rows that are drawn; nil when there are none
	names  []string  // of classes; nil when they have numbers only
}

func (f *PlotFlags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.File, "plot", "", "draw rows before and after to `FILE` (.svg, .png, .html)\nwith a colour for each class")
	fs.StringVar(&f.By, "colour-by", "", "colour the rows of -plot by numbers, not by classes\n`WHAT` is a file with a number per row (.npy, .csv, .txt) or a column of FEATURES, by its name or its number from 1; a missing value (NA) is grey")
}

func (f *PlotFlags) Wanted() bool { return f.File != "" }

// Check checks before long work whether the plot can be written. outs are the other files of
// the command.
func (f *PlotFlags) Check(in Input, outs ...string) error {
	if !f.Wanted() {
		if f.By != "" {
			return cli.Usagef("-colour-by is about the plot: add -plot FILE")
		}
		return nil
	}
	if _, err := plot.FormatOf(f.File); err != nil {
		return cli.Usagef("-plot %s: %w", f.File, text.Bare(err))
	}
	f.title = plotTitle(in.Features)
	if err := RefuseInput("-plot", f.File, in); err != nil {
		return err
	}
	for _, out := range outs {
		if out == "" {
			continue
		}
		if same, err := SameTarget(f.File, out); err != nil {
			return err
		} else if same {
			return cli.Usagef("two results would go to %s: name another file for one", out)
		}
	}
	return CheckPlace(f.File)
}

// Keep takes what is drawn of the features x, which need not stay. y are their labels, nil where
// there are none.
func (f *PlotFlags) Keep(ctx context.Context, in Input, x blas32.General, y []int32) (err error) {
	if !f.Wanted() || x.Rows == 0 || x.Cols == 0 { // others refuse a file without rows
		return nil
	}
	f.total, f.rows = x.Rows, plot.Rows(x.Rows)
	if f.By != "" {
		if err := f.keepValues(ctx, in, x); err != nil {
			return err
		}
	}
	if f.before, err = plot.NewPlane(ctx, x, f.rows); err != nil || y == nil || f.By != "" {
		return err
	}
	f.names, f.labels = in.ClassNames(), make([]int32, len(f.rows))
	for i, row := range f.rows {
		f.labels[i] = y[row]
	}
	return nil
}

// Write draws what was kept next to the embedding. seen says that the embedding has used
// the labels.
func (f *PlotFlags) Write(ctx context.Context, embedding blas32.General, seen bool) error {
	if !f.Wanted() {
		return nil
	}
	after, err := plot.NewPlane(ctx, embedding, f.rows)
	if err != nil {
		return err
	}
	s := &plot.Scatter{
		Title: f.title, Caption: f.caption(seen), Rows: f.rows, Labels: f.labels, Names: f.names, Values: f.values, ValueName: f.valueName(),
		Panels: []plot.Panel{
			{Title: "Before: the features", Axes: axes(f.before), Points: f.before.Points},
			{Title: "After: the embedding", Axes: axes(after), Points: after.Points},
		},
	}
	format, err := plot.FormatOf(f.File)
	if err != nil {
		return err
	}
	return formats.WriteFile(ctx, f.File, func(w io.Writer) error { return s.Write(w, format) })
}

// plotTitle is the name of a file, or of its folder where every file has the same name.
func plotTitle(features string) string {
	name := filepath.Base(features)
	if name != FeaturesName {
		return name
	}
	if folder, err := filepath.Abs(filepath.Dir(features)); err == nil {
		return filepath.Base(folder)
	}
	return name
}

// axes says what the directions of a panel are.
func axes(p *plot.Plane) string {
	switch p.Columns {
	case 1:
		return "horizontal: the only column; heights have no meaning"
	case 2:
		return "horizontal: column 1, vertical: column 2"
	}
	if p.Share == [2]float64{} {
		return fmt.Sprintf("%d columns, and all rows are equal", p.Columns)
	}
	return fmt.Sprintf("first two principal components of %d columns: %.1f %% and %.1f %% of the variance", p.Columns, 100*p.Share[0], 100*p.Share[1])
}

func (f *PlotFlags) caption(seen bool) string {
	text := fmt.Sprintf("%d rows.", f.total)
	if len(f.rows) < f.total {
		text = fmt.Sprintf("%d of %d rows are drawn, a fixed sample spread over the file; numbers of rows in the list are those drawn.", len(f.rows), f.total)
	}
	if seen {
		text += " The embedding has used the labels of these rows: how far classes part here says little about new rows."
	}
	return text
}

// Show adds the plot to the files that were written.
func (f *PlotFlags) Show(w io.Writer) {
	if f.Wanted() {
		fmt.Fprintf(w, "wrote\t%s, a plot with %d of %d rows\n", f.File, len(f.rows), f.total)
	}
}
