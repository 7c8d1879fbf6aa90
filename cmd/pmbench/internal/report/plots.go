package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// plotWidth is that of all plots, plotHeight that of the space between the axes.
const plotWidth, plotHeight = 830, 320

// Colours of the palette.
const indigo, orange, ink = 0, 9, -1

// rooflinePlot shows cases under the two limits, for one and for all workers.
func rooflinePlot(rows []*roofPoint) *plot.Chart {
	c := &plot.Chart{
		Title: "Products (marks) under the limits of the machine (lines)", Width: plotWidth, Height: plotHeight,
		X: plot.Axis{Name: "multiply-adds per byte of the model", Log: true},
		Y: plot.Axis{Name: "billion multiply-adds per second", Log: true},
	}
	least := slices.MinFunc(rows, byIntensity).Intensity / 1.5
	most := slices.MaxFunc(rows, byIntensity).Intensity * 1.5
	var roofs []plot.Series
	for at, name := range []string{"1 worker", "all workers"} {
		read, madd := rows[0].machine.Limits.Read[at], rows[0].machine.Limits.Madd[at]
		if read == 0 {
			continue
		}
		marks := plot.Series{Name: name, Colour: []int{indigo, orange}[at], Look: plot.Marks}
		for _, r := range rows {
			if r.all == (at == 1) {
				marks.Points = append(marks.Points, plot.Sample{X: r.Intensity, Y: r.Reached / 1e9})
			}
		}
		roof := plot.Series{Name: "limit, " + name, Colour: marks.Colour, Look: plot.Dashed}
		for _, x := range []float64{least, min(max(madd/read, least), most), most} {
			roof.Points = append(roof.Points, plot.Sample{X: x, Y: min(x*read, madd) / 1e9})
		}
		c.Series, roofs = append(c.Series, marks), append(roofs, roof)
	}
	c.Series = append(c.Series, roofs...)
	return c
}

func byIntensity(a, b *roofPoint) int { return cmp.Compare(a.Intensity, b.Intensity) }

// scalePlot shows nanoseconds per entry against n, nil where nothing was measured at two n.
func scalePlot(all []record.Summary) *plot.Chart {
	c := &plot.Chart{
		Title: "Time per entry of the graph as n grows", Width: plotWidth, Height: plotHeight,
		X: plot.Axis{Name: "points", Log: true},
		Y: plot.Axis{Name: "ns per entry"},
	}
	for i, op := range []string{"build", "step"} {
		line := plot.Series{Name: op, Colour: []int{indigo, orange}[i]}
		for _, s := range all {
			if s.Suite == "scale" && strings.HasPrefix(s.Case, "op="+op+"/") && s.NsPerNNZ != nil {
				line.Points = append(line.Points, plot.Sample{X: float64(s.N), Y: *s.NsPerNNZ})
				c.Y.High = max(c.Y.High, *s.NsPerNNZ*1.05)
			}
		}
		if len(line.Points) < 2 {
			continue
		}
		slices.SortFunc(line.Points, func(a, b plot.Sample) int { return cmp.Compare(a.X, b.X) })
		c.Series = append(c.Series, line)
	}
	if len(c.Series) == 0 {
		return nil
	}
	return c
}

// shortCases returns what distinguishes the cases of a suite, by their names.
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
