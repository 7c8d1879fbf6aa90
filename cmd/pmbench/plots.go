package main

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// writeSVG draws a plot.
func writeSVG(w io.Writer, p *plot.Plot, width, height vg.Length) error {
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}

// inline returns a plot as an element of a page.
func inline(p *plot.Plot, width, height vg.Length) (string, error) {
	var b bytes.Buffer
	if err := writeSVG(&b, p, width, height); err != nil {
		return "", err
	}
	at := bytes.Index(b.Bytes(), []byte("<svg"))
	if at < 0 {
		return "", fmt.Errorf("no svg element in the plot")
	}
	return string(b.Bytes()[at:]), nil
}

const plotWidth, plotHeight = 18 * vg.Centimeter, 10 * vg.Centimeter

// rooflinePlot shows cases under the two limits, for one and for all workers.
func rooflinePlot(rows []*roofPoint) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Roofline"
	p.X.Label.Text = "multiply-adds per byte of the model"
	p.Y.Label.Text = "multiply-adds per second"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: 2}
	p.Legend.Top, p.Legend.Left = true, true
	lo, hi := math.Inf(1), 0.0
	for _, r := range rows {
		lo, hi = min(lo, r.Intensity/1.5), max(hi, r.Intensity*1.5)
	}
	m := rows[0].machine
	for at, name := range []string{"1 worker", "all workers"} {
		if m.Limits.Read[at] == 0 {
			continue
		}
		read, madd := m.Limits.Read[at], m.Limits.Madd[at]
		var roof plotter.XYs
		for x := lo; x <= hi; x *= 1.05 {
			roof = append(roof, plotter.XY{X: x, Y: min(x*read, madd)})
		}
		line, err := plotter.NewLine(roof)
		if err != nil {
			return nil, err
		}
		line.Color = plotutil.Color(at)
		p.Add(line)
		var dots plotter.XYs
		for _, r := range rows {
			if r.all == (at == 1) {
				dots = append(dots, plotter.XY{X: r.Intensity, Y: r.Reached})
			}
		}
		if len(dots) == 0 {
			continue
		}
		scatter, err := plotter.NewScatter(dots)
		if err != nil {
			return nil, err
		}
		scatter.Color, scatter.Shape = plotutil.Color(at), draw.CircleGlyph{}
		p.Add(scatter)
		p.Legend.Add(name, line, scatter)
	}
	return p, nil
}

func plotRoofline(w io.Writer, rows []*roofPoint) error {
	p, err := rooflinePlot(rows)
	if err != nil {
		return err
	}
	return writeSVG(w, p, plotWidth, plotHeight)
}

// scalePlot shows nanoseconds per entry against n.
func scalePlot(all []summary) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Time per entry of the graph as n grows"
	p.X.Label.Text = "points"
	p.Y.Label.Text = "ns per entry"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.LogTicks{Prec: -1}
	p.Y.Min = 0
	p.Legend.Top = true
	lines := 0
	for i, op := range []string{"build", "step"} {
		var points plotter.XYs
		for _, s := range all {
			if s.Suite == "scale" && strings.HasPrefix(s.Case, "op="+op+"/") && s.NsPerNNZ != nil {
				points = append(points, plotter.XY{X: float64(s.N), Y: *s.NsPerNNZ})
			}
		}
		if len(points) < 2 {
			continue
		}
		slices.SortFunc(points, func(a, b plotter.XY) int { return int(a.X - b.X) })
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, dots.Color, dots.Shape = plotutil.Color(i), plotutil.Color(i), draw.CircleGlyph{}
		p.Add(line, dots)
		p.Legend.Add(op, line, dots)
		lines++
	}
	if lines == 0 {
		return nil, nil
	}
	return p, nil
}

// ratioPlot shows the peers' times over ours in a suite.
func ratioPlot(ratios []*Ratio) (*plot.Plot, error) {
	var values plotter.Values
	var names []string
	short := shortCases(ratios)
	for _, r := range slices.Backward(ratios) { // the first on top
		if r.Ratio != nil {
			values, names = append(values, *r.Ratio), append(names, r.Peer+" "+short[r.Case])
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text = "Time of the peers over ours (1: as fast)"
	bars, err := plotter.NewBarChart(values, vg.Points(9))
	if err != nil {
		return nil, err
	}
	bars.Horizontal, bars.Color, bars.LineStyle.Width = true, plotutil.Color(2), 0
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.5}, {X: 1, Y: float64(len(values)) - 0.5}})
	if err != nil {
		return nil, err
	}
	one.Color = color.Gray{Y: 60}
	p.Add(bars, one)
	p.NominalY(names...)
	p.X.Min = 0
	return p, nil
}

// shortCases returns what tells the cases of a suite apart, by their names.
func shortCases(ratios []*Ratio) map[string]string {
	times := map[string]int{}
	for _, r := range ratios {
		for _, field := range strings.Split(r.Case, "/") {
			times[field]++
		}
	}
	out := map[string]string{}
	for _, r := range ratios {
		fields := strings.Split(r.Case, "/")
		out[r.Case] = strings.Join(slices.DeleteFunc(fields, func(field string) bool { return times[field] == len(ratios) }), " ")
	}
	return out
}
