package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// scaleView is what modes take against the size of the gallery.
type scaleView struct {
	Table *table
	Chart figure
}

// scaleSizes are the galleries whose bytes are given by formula, of rows of scaleDimension
// numbers.
var scaleSizes = []int{5_424, 100_000, 1_000_000, 10_000_000, 100_000_000}

const scaleDimension = 64

// scaleOf shows the modes all, cells and sealed against the size of the gallery, or returns nil where
// no mode encrypts.
func scaleOf(sets []*dataset) *scaleView {
	measured := measuredAt(sets)
	if !slices.ContainsFunc(measured, func(m scaleRow) bool { return m.up > 0 }) {
		return nil
	}
	t := &table{
		Caption: "Bytes, overlap@8 and seconds of the server against the size of the gallery",
		Head:    []string{"gallery", "rows", "mode", "up, a query", "down, a query", "once", "overlap@8", "server, a query"},
	}
	for _, m := range measured {
		t.Rows = append(t.Rows, m.row())
	}
	for _, n := range scaleSizes {
		s := sizesOf(n, scaleDimension)
		for _, m := range []scaleRow{
			{rows: n, mode: "all rows", once: s.allRows},
			{rows: n, mode: "cells, an eighth, int8", down: s.cells},
			{rows: n, mode: "sealed", up: s.up, down: s.down, once: s.once()},
		} {
			t.Rows = append(t.Rows, m.row())
		}
	}
	return &scaleView{t, figureOf(scaleChart(measured), "Dashed: by formula, for rows of 64 numbers. Marks are measured.")}
}

// scaleRow is a mode on a gallery of some size.
type scaleRow struct {
	gallery        string // empty where bytes are by formula
	rows           int
	mode           string
	up, down, once float64
	overlap        cell
	seconds        float64
}

func (m scaleRow) row() row {
	if m.overlap.Text == "" {
		m.overlap.Text = "–"
	}
	return row{
		Cells: []cell{
			{Text: m.gallery}, {Text: strconv.Itoa(m.rows)}, {Text: m.mode}, bytesCell(m.up), bytesCell(m.down), bytesCell(m.once), m.overlap, secondsCell(m.seconds),
		},
		Bound: m.gallery == "",
	}
}

// measuredAt returns what was measured of the three modes.
func measuredAt(sets []*dataset) (out []scaleRow) {
	for _, d := range sets {
		for _, m := range d.modes {
			for i := range d.main {
				s := &d.main[i]
				if s.Mode != m.Name {
					continue
				}
				r := scaleRow{gallery: d.name, rows: s.Gallery, mode: m.Title, overlap: show(s, evaluate.OverlapAt8)}
				switch v := s.Volume; {
				case encrypted(s):
					r.up, r.down, r.once, r.seconds = v.Sealed.Up, v.Sealed.Down, v.Sealed.Once, v.Sealed.Seconds
				case takesAll(s):
					r.once = v.Int8.Once
				case v.Int8.Query > 0:
					r.mode += ", epsilon " + epsilonOf(s)
					r.down, r.once, r.overlap = v.Int8.Query, v.Int8.Once, show(s, evaluate.CompactOverlap8)
				default:
					continue
				}
				out = append(out, r)
			}
		}
	}
	return out
}

// scaleChart draws bytes against rows: those a query takes, and those taken once.
func scaleChart(measured []scaleRow) *plot.Chart {
	c := &plot.Chart{
		Title: "Bytes against the size of the gallery",
		X:     plot.Axis{Name: "rows of the gallery", Log: true},
		Y:     plot.Axis{Name: "bytes", Log: true, Show: ShowBytes},
	}
	for i, line := range []struct {
		name    string
		formula func(sizes) float64
		of      func(scaleRow) float64
	}{
		{"all rows, once", func(s sizes) float64 { return s.allRows }, func(m scaleRow) float64 {
			if m.down > 0 {
				return 0
			}
			return m.once
		}},
		{"cells, a query", func(s sizes) float64 { return s.cells }, func(m scaleRow) float64 {
			if m.up > 0 {
				return 0
			}
			return m.down
		}},
		{"sealed, a query", func(s sizes) float64 { return s.up + s.down }, func(m scaleRow) float64 {
			if m.up == 0 {
				return 0
			}
			return m.up + m.down
		}},
		{"sealed, once", sizes.once, func(m scaleRow) float64 {
			if m.up == 0 {
				return 0
			}
			return m.once
		}},
	} {
		formula := plot.Series{Name: line.name, Colour: i, Look: plot.Dashed}
		for _, n := range scaleSizes {
			formula.Points = append(formula.Points, plot.Sample{X: float64(n), Y: line.formula(sizesOf(n, scaleDimension))})
		}
		marks := plot.Series{Name: line.name + ", measured", Colour: i, Look: plot.Marks}
		for _, m := range measured {
			if y := line.of(m); y > 0 {
				marks.Points = append(marks.Points, plot.Sample{X: float64(m.rows), Y: y})
			}
		}
		c.Series = append(c.Series, formula)
		c.Series = append(c.Series, marksOf(marks)...)
	}
	return c
}

// marksOf returns a series as one mark for each gallery, the first of those with as many rows.
func marksOf(s plot.Series) []plot.Series {
	slices.SortStableFunc(s.Points, func(a, b plot.Sample) int { return cmp.Compare(a.X, b.X) })
	s.Points = slices.CompactFunc(s.Points, func(a, b plot.Sample) bool { return a.X == b.X })
	if len(s.Points) == 0 {
		return nil
	}
	return []plot.Series{s}
}
