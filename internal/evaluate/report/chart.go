package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// chart is a line chart. Series with one point at x = NaN are horizontal lines:
// modes that the axis does not concern. Values are shares, 0 to 1, or numbers of bytes.
type chart struct {
	title, xLabel, yLabel string
	logX                  bool
	bytes                 bool // values are bytes above 0, on a logarithmic axis
	series                []series
}

type series struct {
	name    string
	color   int // of the palette; negative is ink
	dashed  bool
	epsilon float64 // at which all of it was measured, 0 where there is none
	at      []sample
}

// sample is a value with its interval.
type sample struct{ x, y, low, high float64 }

// The picture in units of its view box. The names of the series stand below the
// plot, which adds to the height.
const (
	chartWidth              = 560.0
	leftMargin, rightMargin = 52.0, 12.0
	topMargin, bottomMargin = 36.0, 46.0
	plotWidth               = chartWidth - leftMargin - rightMargin
	plotHeight              = 250.0
	legendLine              = 20.0
)

// svg draws the chart.
func (c *chart) svg() string {
	var b strings.Builder
	places, lines := c.legend()
	height := topMargin + plotHeight + bottomMargin + legendLine*float64(lines)
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, chartWidth, height, html.EscapeString(c.title))
	fmt.Fprintf(&b, `<text class="title" x="%g" y="20">%s</text>`, leftMargin, html.EscapeString(c.title))
	xs := c.positions()
	x := c.xScale(xs)
	y, ticks := yScale, shareTicks()
	show := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
	if c.bytes {
		y, ticks = c.byteScale()
		show = ShowBytes
	}
	c.grid(&b, xs, x, y, ticks)
	for i, s := range c.series {
		s.draw(&b, i, x, y, show)
	}
	for i, s := range c.series {
		s.key(&b, i, places[i])
	}
	b.WriteString("</svg>")
	return b.String()
}

// legend returns where the name of each series stands and how many lines that
// takes. Letters are about 6.7 wide.
func (c *chart) legend() (places []place, lines int) {
	at := place{leftMargin, topMargin + plotHeight + bottomMargin + 10}
	lines = 1
	for _, s := range c.series {
		width := 44 + 6.7*float64(len([]rune(s.name)))
		if at.x > leftMargin && at.x+width > chartWidth {
			at = place{leftMargin, at.y + legendLine}
			lines++
		}
		places = append(places, at)
		at.x += width
	}
	return places, lines
}

// place is a point of the picture.
type place struct{ x, y float64 }

// positions returns the distinct x values that were measured, sorted.
func (c *chart) positions() []float64 {
	var xs []float64
	for _, s := range c.series {
		if s.color < 0 {
			continue
		}
		for _, p := range s.at {
			if !math.IsNaN(p.x) {
				xs = append(xs, p.x)
			}
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// scale maps a value to a place in the picture.
type scale func(float64) float64

func (c *chart) xScale(xs []float64) scale {
	transform := func(v float64) float64 { return v }
	if c.logX {
		transform = math.Log
	}
	lo, hi := 0.0, 1.0
	if len(xs) > 0 {
		lo, hi = transform(xs[0]), transform(xs[len(xs)-1])
	}
	if hi == lo {
		lo, hi = lo-1, hi+1
	}
	return func(v float64) float64 {
		return leftMargin + 14 + (plotWidth-28)*(transform(v)-lo)/(hi-lo)
	}
}

// yScale cuts off what leaves the picture.
func yScale(v float64) float64 { return topMargin + plotHeight*(1-min(max(v, 0), 1)) }

// tick is a line of the grid with what stands beside it.
type tick struct {
	at   float64
	text string
}

func shareTicks() (ticks []tick) {
	for i := range 6 {
		v := float64(i) / 5
		ticks = append(ticks, tick{v, strconv.FormatFloat(v, 'g', 3, 64)})
	}
	return ticks
}

// byteScale is a logarithmic scale over all values, with a line at each power of ten.
func (c *chart) byteScale() (scale, []tick) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range c.series {
		for _, p := range s.at {
			lo, hi = min(lo, math.Floor(math.Log10(p.y))), max(hi, math.Ceil(math.Log10(p.y)))
		}
	}
	hi = max(hi, lo+1) // one value that is a power of ten
	var ticks []tick
	for e := lo; e <= hi; e++ {
		ticks = append(ticks, tick{math.Pow(10, e), ShowBytes(math.Pow(10, e))})
	}
	return func(v float64) float64 { return yScale((math.Log10(v) - lo) / (hi - lo)) }, ticks
}

func (c *chart) grid(b *strings.Builder, xs []float64, x, y scale, ticks []tick) {
	for _, t := range ticks {
		fmt.Fprintf(b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/>`, leftMargin, leftMargin+plotWidth, y(t.at), y(t.at))
		fmt.Fprintf(b, `<text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`, leftMargin-8, y(t.at)+4, t.text)
	}
	last := math.Inf(-1)
	for _, v := range xs {
		at := x(v)
		fmt.Fprintf(b, `<line class="axis" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/>`, at, at, topMargin+plotHeight, topMargin+plotHeight+5)
		if at-last < 26 { // a label would touch the one before
			continue
		}
		last = at
		fmt.Fprintf(b, `<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, at, topMargin+plotHeight+19, strconv.FormatFloat(v, 'g', 4, 64))
	}
	fmt.Fprintf(b, `<line class="axis" x1="%g" x2="%g" y1="%g" y2="%g"/>`, leftMargin, leftMargin+plotWidth, topMargin+plotHeight, topMargin+plotHeight)
	fmt.Fprintf(b, `<text class="label" x="%g" y="%g" text-anchor="middle">%s</text>`, leftMargin+plotWidth/2, topMargin+plotHeight+38, html.EscapeString(c.xLabel))
	fmt.Fprintf(b, `<text class="label" transform="translate(15 %g) rotate(-90)" text-anchor="middle">%s</text>`, topMargin+plotHeight/2, html.EscapeString(c.yLabel))
}

// class returns the CSS classes of a series.
func (s *series) class() string {
	class := "ink"
	if s.color >= 0 {
		class = "c" + strconv.Itoa(s.color%paletteSize)
	}
	if s.dashed {
		class += " dashed"
	}
	return class
}

// paletteSize is how many colours the style sheet has.
const paletteSize = 12

// isFlat tells whether the series is a horizontal line.
func (s *series) isFlat() bool { return len(s.at) == 1 && math.IsNaN(s.at[0].x) }

// measured tells whether the series has markers: a bound, a formula and a flat line have
// none.
func (s *series) measured() bool { return s.color >= 0 && !s.dashed && !s.isFlat() }

// draw draws line, intervals and markers; show prints a value.
func (s *series) draw(b *strings.Builder, shape int, x, y scale, show func(float64) string) {
	fmt.Fprintf(b, `<g class="%s">`, s.class())
	defer b.WriteString(`</g>`)
	if s.isFlat() {
		at := y(s.at[0].y)
		fmt.Fprintf(b, `<line class="line flat" x1="%g" x2="%g" y1="%.1f" y2="%.1f"><title>%s: %s</title></line>`,
			leftMargin, leftMargin+plotWidth, at, at, html.EscapeString(s.name), show(s.at[0].y))
		return
	}
	var line strings.Builder
	for _, p := range s.at {
		fmt.Fprintf(&line, "%.1f,%.1f ", x(p.x), y(p.y))
	}
	fmt.Fprintf(b, `<polyline class="line" points="%s"/>`, strings.TrimSpace(line.String()))
	if !s.measured() {
		return
	}
	for _, p := range s.at {
		if p.high > p.low {
			fmt.Fprintf(b, `<line class="bar" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x(p.x), x(p.x), y(p.low), y(p.high))
		}
		title := fmt.Sprintf("%s at %g: %s", s.name, p.x, show(p.y))
		if p.high > p.low {
			title += " (" + show(p.low) + " to " + show(p.high) + ")"
		}
		marker(b, shape, x(p.x), y(p.y), 4, title)
	}
}

// key draws the name of the series with a piece of its line.
func (s *series) key(b *strings.Builder, shape int, at place) {
	class := "line"
	if s.isFlat() {
		class += " flat"
	}
	fmt.Fprintf(b, `<g class="%s"><line class="%s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, s.class(), class, at.x, at.x+24, at.y, at.y)
	if s.measured() {
		marker(b, shape, at.x+12, at.y, 4, "")
	}
	fmt.Fprintf(b, `<text class="name" x="%.1f" y="%.1f">%s</text></g>`, at.x+30, at.y+4, html.EscapeString(s.name))
}

// marker draws one of four shapes, so that series differ without colour too.
func marker(b *strings.Builder, shape int, x, y, r float64, title string) {
	if title != "" {
		title = "<title>" + html.EscapeString(title) + "</title>"
	}
	switch shape % 4 {
	case 0:
		fmt.Fprintf(b, `<circle class="mark" cx="%.1f" cy="%.1f" r="%g">%s</circle>`, x, y, r, title)
	case 1:
		fmt.Fprintf(b, `<rect class="mark" x="%.1f" y="%.1f" width="%g" height="%g">%s</rect>`, x-r*.9, y-r*.9, r*1.8, r*1.8, title)
	case 2:
		fmt.Fprintf(b, `<path class="mark" d="M%.1f %.1fl%g %gh%gz">%s</path>`, x, y-1.2*r, 1.15*r, 2*r, -2.3*r, title)
	case 3:
		fmt.Fprintf(b, `<path class="mark" d="M%.1f %.1fl%g %gl%g %gl%g %gz">%s</path>`, x, y-1.3*r, 1.3*r, 1.3*r, -1.3*r, 1.3*r, -1.3*r, -1.3*r, title)
	}
}

// figure is a picture with its words.
type figure struct {
	Title, Caption string
	SVG            template.HTML // made by this package, all text escaped
}
