package plot

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// A Scatter shows the same rows in one panel or several.
type Scatter struct {
	// Title and Caption are above and below the panels.
	Title, Caption string
	// Panels have a point for each row, in the same order.
	Panels []Panel
	// Rows are the numbers of the rows for the reader. Default: 0, 1, 2, ...
	Rows []int
	// Labels have the class of each row, a negative number for none. Default: no classes.
	Labels []int32
	// Values have a number for each row, NaN for none, in place of classes: rows get colours
	// by them, and the legend is a scale. Default: none. They exclude labels.
	Values []float64
	// ValueName says what the values are.
	ValueName string
	// Names are the names of the classes, by number. A class without a name is shown as
	// its number.
	Names []string
	// Ringed are the places of the rows with a ring around them in an Element, such as a query.
	Ringed []int
}

// A Panel is one view of the rows.
type Panel struct {
	Title string
	// Axes describes the two directions, in small print.
	Axes   string
	Points []Point
}

// A Point is a place in the units of its panel.
type Point struct{ X, Y float64 }

// ErrPlot reports a Scatter that cannot be drawn.
var ErrPlot = errors.New("cannot be drawn")

// A Format is a kind of file.
type Format int

// The formats.
const (
	SVG Format = iota + 1
	PNG
	HTML
)

// FormatOf returns the format for the ending of a name.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		return SVG, nil
	case ".png":
		return PNG, nil
	case ".html", ".htm":
		return HTML, nil
	}
	return 0, fmt.Errorf("plot: %w: unknown kind of file; can be written: .svg, .png, .html", ErrPlot)
}

// Write draws the scatter. Errors: ErrPlot, and those of w.
func (s *Scatter) Write(w io.Writer, format Format) error {
	if err := s.check(); err != nil {
		return err
	}
	f := newFigure(s)
	switch format {
	case SVG:
		return writeSVG(w, f)
	case PNG:
		return writePNG(w, f)
	case HTML:
		return writeHTML(w, f)
	}
	return fmt.Errorf("plot: %w: unknown format %d", ErrPlot, format)
}

// check refuses panels that do not have the same rows.
func (s *Scatter) check() error {
	if len(s.Panels) == 0 || len(s.Panels[0].Points) == 0 {
		return fmt.Errorf("plot: %w: no points", ErrPlot)
	}
	n := len(s.Panels[0].Points)
	for _, p := range s.Panels {
		if len(p.Points) != n {
			return fmt.Errorf("plot: %w: panels of %d and %d points", ErrPlot, n, len(p.Points))
		}
		for i, at := range p.Points {
			if at.X-at.X != 0 || at.Y-at.Y != 0 {
				return fmt.Errorf("plot: %w: point %d of panel %q is not finite", ErrPlot, i+1, p.Title)
			}
		}
	}
	if s.Rows != nil && len(s.Rows) != n || s.Labels != nil && len(s.Labels) != n || s.Values != nil && len(s.Values) != n {
		return fmt.Errorf("plot: %w: %d points with %d row numbers, %d labels and %d values", ErrPlot, n, len(s.Rows), len(s.Labels), len(s.Values))
	}
	for _, row := range s.Ringed {
		if row < 0 || row >= n {
			return fmt.Errorf("plot: %w: a ring around row %d of %d", ErrPlot, row+1, n)
		}
	}
	if s.Labels != nil && s.Values != nil {
		return fmt.Errorf("plot: %w: labels and values", ErrPlot)
	}
	return nil
}

// name returns the name of a class.
func (s *Scatter) name(class int32) string {
	if int(class) < len(s.Names) && s.Names[class] != "" {
		return s.Names[class]
	}
	return strconv.Itoa(int(class))
}
