package report

import (
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// ratioPlot shows the peers' times over ours in a suite, with their quartiles: one mark where we
// are faster, another where the peer is. It is nil where there are no ratios.
func ratioPlot(ratios []*record.Ratio) *plot.Chart {
	short := shortCases(ratios)
	var names []string
	var rows []float64
	marks := []plot.Series{{Name: "we are faster", Colour: indigo, Look: plot.Marks}, {Name: "the peer is faster", Colour: orange, Look: plot.Marks}}
	low, high := 1.0, 1.0
	for _, r := range slices.Backward(ratios) { // the first on top
		if r.Ratio == nil || *r.Ratio <= 0 {
			continue
		}
		at := plot.Sample{X: *r.Ratio, Y: float64(len(names)), Low: *r.Ratio, High: *r.Ratio, Text: fmt.Sprintf("%.2f", *r.Ratio)}
		if r.RatioLow != nil && r.RatioHigh != nil {
			at.Low, at.High = min(at.X, *r.RatioLow), max(at.X, *r.RatioHigh)
		}
		side := &marks[0]
		if at.X < 1 {
			side = &marks[1]
		}
		side.Points = append(side.Points, at)
		low, high = min(low, at.Low), max(high, at.High)
		names, rows = append(names, r.Peer+" "+short[r.Case]), append(rows, at.Y)
	}
	if len(names) == 0 {
		return nil
	}
	// A margin around the marks, and room for the numbers on the right.
	c := &plot.Chart{
		Title: "Time of the peers over ours", Sideways: true, Width: plotWidth, Height: 22 * float64(len(names)+1),
		X: plot.Axis{Name: "right of 1 we are faster, left of 1 the peer is", Log: true, Low: low / 1.3, High: high * 1.6},
		Y: plot.Axis{Low: -0.7, High: float64(len(names)) - 0.3, Ticks: rows, Show: func(v float64) string { return names[int(v)] }},
	}
	one := plot.Series{Colour: ink, Look: plot.Dashed, Points: []plot.Sample{{X: 1, Y: c.Y.Low}, {X: 1, Y: c.Y.High}}}
	marks = slices.DeleteFunc(marks, func(s plot.Series) bool { return len(s.Points) == 0 })
	c.Series = append(marks, one)
	return c
}
