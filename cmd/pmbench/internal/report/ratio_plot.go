package report

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// ratioPlot shows the peers' times over ours in a suite, with their quartiles: circles
// where we are faster, triangles where the peer is.
func ratioPlot(ratios []*record.Ratio) (*plot.Plot, error) {
	names, shown := ratioNames(ratios)
	if len(shown) == 0 {
		return nil, nil
	}
	p := newPlot("Time of the peers over ours")
	p.X.Label.Text = "right of 1 we are faster, left of 1 the peer is"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, logTicks{}
	var sides [2]plotter.XYs // we are faster, the peer is
	var bars xRanges
	labels := plotter.XYLabels{}
	low, high := 1.0, 1.0
	for y, r := range shown {
		side := 0
		if *r.Ratio < 1 {
			side = 1
		}
		at := plotter.XY{X: *r.Ratio, Y: float64(y)}
		sides[side] = append(sides[side], at)
		from, to := *r.Ratio, *r.Ratio
		if r.RatioLow != nil && r.RatioHigh != nil {
			from, to = min(from, *r.RatioLow), max(to, *r.RatioHigh)
		}
		bars.XYs, bars.XErrors = append(bars.XYs, at), append(bars.XErrors, struct{ Low, High float64 }{from - at.X, to - at.X})
		labels.XYs, labels.Labels = append(labels.XYs, plotter.XY{X: to, Y: at.Y}), append(labels.Labels, fmt.Sprintf("%.2f", at.X))
		low, high = min(low, from), max(high, to)
	}
	if err := addRatios(p, sides, bars, labels); err != nil {
		return nil, err
	}
	p.NominalY(names...)
	// A margin around the marks, and room for the numbers on the right.
	p.X.Min, p.X.Max = low/1.3, high*1.6
	p.Y.Min, p.Y.Max = -0.7, float64(len(shown))-0.3
	return p, nil
}

// xRanges are points with their quartiles.
type xRanges struct {
	plotter.XYs
	plotter.XErrors
}

// addRatios draws the quartiles, the marks, the numbers and the line at 1.
func addRatios(p *plot.Plot, sides [2]plotter.XYs, bars xRanges, labels plotter.XYLabels) error {
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.7}, {X: 1, Y: float64(len(bars.XYs)) - 0.3}})
	if err != nil {
		return err
	}
	one.Color, one.Width = color.Gray{Y: 60}, vg.Points(1.5)
	ranges, err := plotter.NewXErrorBars(bars)
	if err != nil {
		return err
	}
	ranges.Color, ranges.CapWidth = color.Gray{Y: 90}, vg.Points(4)
	p.Add(one, ranges)
	for side, name := range []string{"we are faster", "the peer is faster"} {
		if len(sides[side]) == 0 {
			continue
		}
		marks, err := plotter.NewScatter(sides[side])
		if err != nil {
			return err
		}
		look := seriesStyles[side]
		marks.Color, marks.Shape, marks.Radius = look.color, look.shape, vg.Points(4)
		p.Add(marks)
		p.Legend.Add(name, marks)
	}
	numbers, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	numbers.Offset.X, numbers.Offset.Y = vg.Points(6), -vg.Points(3.5)
	for i := range numbers.TextStyle {
		numbers.TextStyle[i].Font.Variant, numbers.TextStyle[i].Font.Size = "Sans", vg.Points(10)
	}
	p.Add(numbers)
	p.Legend.Top = true
	p.Legend.YOffs = legendRoom
	return nil
}

// legendRoom lifts the names of the marks beside the title, off the marks.
const legendRoom = vg.Length(26)

// ratioNames returns the ratios that exist, the first on top, and their names.
func ratioNames(ratios []*record.Ratio) (names []string, shown []*record.Ratio) {
	short := shortCases(ratios)
	for _, r := range slices.Backward(ratios) {
		if r.Ratio != nil && *r.Ratio > 0 {
			names, shown = append(names, r.Peer+" "+short[r.Case]), append(shown, r)
		}
	}
	return names, shown
}

// ratioHeight is the height of the plot of ratios.
func ratioHeight(ratios []*record.Ratio) vg.Length {
	_, shown := ratioNames(ratios)
	return vg.Centimeter * (3 + 0.6*vg.Length(len(shown)))
}
