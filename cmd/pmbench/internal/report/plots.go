package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
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

const plotWidth, plotHeight = 22 * vg.Centimeter, 11 * vg.Centimeter

// seriesStyles tell series apart by colour, by shape and by dashes, so that no one has to
// rely on the colour; the colours are those of Okabe and Ito, which stay apart for
// readers who do not tell red from green.
var seriesStyles = []struct {
	color  color.Color
	shape  draw.GlyphDrawer
	dashes []vg.Length
}{
	{color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, draw.CircleGlyph{}, nil},
	{color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, draw.PyramidGlyph{}, []vg.Length{vg.Points(6), vg.Points(3)}},
}

// newPlot returns an empty plot with letters of the page's size.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = vg.Points(14)
	p.Title.Padding = vg.Points(8)
	for _, text := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font} {
		text.Variant = "Sans"
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.Padding, axis.Label.TextStyle.Font.Size = vg.Points(4), vg.Points(11)
		axis.Tick.Label.Font.Size = vg.Points(10)
	}
	p.Legend.TextStyle.Font.Size, p.Legend.Padding = vg.Points(11), vg.Points(2)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 225}, color.Gray{Y: 225}
	p.Add(grid)
	return p
}

// logTicks marks 1, 2 and 5 times the powers of ten with their numbers, more of them over
// less than a power of ten, and over more than three powers the powers alone.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(lo, hi float64) (out []plot.Tick) {
	if !(lo > 0) || math.IsInf(hi, 0) {
		return nil
	}
	digits := []float64{1, 2, 5}
	switch {
	case hi/lo > 1000:
		digits = digits[:1]
	case hi/lo < 10:
		digits = []float64{1, 1.5, 2, 3, 4, 5, 6, 8}
	}
	for power := math.Floor(math.Log10(lo)); power <= math.Ceil(math.Log10(hi)); power++ {
		for _, digit := range digits {
			value := digit * math.Pow(10, power)
			if value < lo*(1-1e-9) || value > hi*(1+1e-9) {
				continue
			}
			places := max(0, -int(power))
			if digit == 1.5 && power <= 0 {
				places++
			}
			out = append(out, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', places, 64)})
		}
	}
	return out
}

// rooflinePlot shows cases under the two limits, for one and for all workers.
func rooflinePlot(rows []*roofPoint) (*plot.Plot, error) {
	p := newPlot("Products (marks) under the limits of the machine (lines)")
	p.X.Label.Text = "multiply-adds per byte of the model"
	p.Y.Label.Text = "billion multiply-adds per second"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = logTicks{}, logTicks{}
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
		var roof, marks plotter.XYs
		for x := lo; x <= hi; x *= 1.05 {
			roof = append(roof, plotter.XY{X: x, Y: min(x*read, madd) / 1e9})
		}
		for _, r := range rows {
			if r.all == (at == 1) {
				marks = append(marks, plotter.XY{X: r.Intensity, Y: r.Reached / 1e9})
			}
		}
		if err := addSeries(p, name, at, roof, marks); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// addSeries draws a line and marks in the style of a series, and names them. A series
// without marks is left out of the names.
func addSeries(p *plot.Plot, name string, style int, points, marks plotter.XYs) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	look := seriesStyles[style]
	line.Color, line.Width, line.Dashes = look.color, vg.Points(1.5), look.dashes
	p.Add(line)
	if len(marks) == 0 {
		return nil
	}
	scatter, err := plotter.NewScatter(marks)
	if err != nil {
		return err
	}
	scatter.Color, scatter.Shape, scatter.Radius = look.color, look.shape, vg.Points(4)
	p.Add(scatter)
	p.Legend.Add(name, line, scatter)
	return nil
}

func plotRoofline(w io.Writer, rows []*roofPoint) error {
	p, err := rooflinePlot(rows)
	if err != nil {
		return err
	}
	return writeSVG(w, p, plotWidth, plotHeight)
}

// scalePlot shows nanoseconds per entry against n.
func scalePlot(all []record.Summary) (*plot.Plot, error) {
	p := newPlot("Time per entry of the graph as n grows")
	p.X.Label.Text = "points"
	p.Y.Label.Text = "ns per entry"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = logTicks{}
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
		if err := addSeries(p, op, i, points, points); err != nil {
			return nil, err
		}
		lines++
	}
	if lines == 0 {
		return nil, nil
	}
	return p, nil
}

// shortCases returns what tells the cases of a suite apart, by their names.
func shortCases(ratios []*record.Ratio) map[string]string {
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
