package plot

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
)

// A Chart shows series of numbers over two axes.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
	// Sideways says that the low and high ends of points lie along X, not along Y.
	Sideways bool
	// Width is that of the picture, Height that of the space between the axes. Default: 560
	// and 250.
	Width, Height float64
}

// A Series is drawn in one colour.
type Series struct {
	Name   string // empty: not in the list below the chart
	Colour int    // place in the palette of 12, which begins again after the last; negative: that of text
	Look   Look
	Points []Sample
}

// A Look is how the points of a series are drawn.
type Look int

// The looks.
const (
	Line   Look = iota // marks and a line through them
	Marks              // marks alone
	Dashed             // a dashed line, such as that of a formula
	Level              // a dotted line from side to side at the Y of the first point
)

// A Sample is a point with what is known about it.
type Sample struct {
	X, Y      float64
	Low, High float64 // the ends of a bar; no bar where they are equal
	Text      string  // right of the bar
}

// The parts of a chart.
const (
	chartTop    = 36.0
	chartMargin = 12.0
	axisSpace   = 22.0 // of ticks below the axes, and of the name of an axis
	markRadius  = 4.2
	keyLength   = 24.0
	listSkip    = 20.0
)

// Style returns the rules for a page with charts and scatters as elements, with dark colours for
// readers who set them if the page has such.
func Style(withDark bool) string {
	style := svgRules + chartRules + themeRules(light(), fewClasses, (*theme).few)
	if withDark {
		style += "\n@media (prefers-color-scheme: dark) {" + themeRules(dark(), fewClasses, (*theme).few) + "}"
	}
	return style + "\n"
}

// chartRules are the rules for lines that colours do not change.
const chartRules = `.line,.dashed,.level{fill:none;stroke:currentColor;stroke-width:2.2;stroke-linejoin:round}` +
	`.dashed{stroke-dasharray:7 5}.level{stroke-width:1.6;stroke-dasharray:1 3;stroke-linecap:round}.bar{stroke:currentColor;stroke-width:1.6;opacity:.7}.solid{opacity:1}`

// Write writes the chart as a picture on white.
func (c *Chart) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	c.draw(&svgCanvas{w: b}, Style(false))
	return b.Flush()
}

// Element returns the chart as an element of a page that has Style.
func (c *Chart) Element() string { return element(func(s *svgCanvas) { c.draw(s, "") }) }

func (c *Chart) draw(s *svgCanvas, style string) {
	f, width, bottom := newFaces(1), cmp.Or(c.Width, 560), chartTop+cmp.Or(c.Height, 250)
	xs, ys := c.numbers()
	y := newRuler(&c.Y, ys, bottom, chartTop)
	side := 0.0
	for i, t := range y.ticks {
		y.ticks[i].text = f.shorten(smallStyle, t.text, width/2)
		side = max(side, f.room(smallStyle, y.ticks[i].text))
	}
	side += chartMargin
	if c.Y.Name != "" {
		side += axisSpace
	}
	x := newRuler(&c.X, xs, side, width-chartMargin)
	keys, end := c.keys(f, Point{side, bottom + 2.5*axisSpace}, width)
	s.open(width, end, c.Title, style)
	s.text(Point{side, 20}, panelStyle, left, f.shorten(panelStyle, c.Title, width-side))
	c.grid(s, f, x, y)
	for i := range c.Series {
		c.drawSeries(s, i, x, y)
	}
	for i, at := range keys {
		c.key(s, f, i, at)
	}
	s.w.WriteString("</svg>\n")
}

// numbers returns what the axes have to show.
func (c *Chart) numbers() (xs, ys []float64) {
	for _, one := range c.Series {
		for _, p := range one.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
			if p.High > p.Low && c.Sideways {
				xs = append(xs, p.Low, p.High)
			} else if p.High > p.Low {
				ys = append(ys, p.Low, p.High)
			}
		}
	}
	return xs, ys
}

// keys returns the places of the names in the list below the chart, and where it ends.
func (c *Chart) keys(f *faces, first Point, width float64) (places []Point, end float64) {
	at := first
	for _, one := range c.Series {
		room := keyLength + keyWidth/2 + f.room(legendStyle, one.Name)
		if at.X > first.X && at.X+room > width && one.Name != "" {
			at = Point{first.X, at.Y + listSkip}
		}
		places = append(places, at)
		if one.Name != "" {
			at.X += room
		}
	}
	return places, at.Y + chartMargin
}

// grid draws the axes, a line at each tick, and the words.
func (c *Chart) grid(s *svgCanvas, f *faces, x, y *ruler) {
	for _, t := range y.ticks {
		at := y.at(t.at)
		s.line("g", Point{x.from, at}, Point{x.to, at})
		s.text(Point{x.from - 7, at + 4}, smallStyle, right, t.text)
	}
	last := math.Inf(-1)
	for _, t := range x.ticks {
		at, half := x.at(t.at), f.room(smallStyle, t.text)/2
		s.line("g", Point{at, y.from}, Point{at, y.to})
		s.tick(Point{at, y.from}, Point{at, y.from + 4})
		at = min(at, x.to+chartMargin-half) // in the picture
		if at-half < last+4 {               // would touch the one before
			continue
		}
		last = at + half
		s.text(Point{at, y.from + 17}, smallStyle, middle, t.text)
	}
	s.tick(Point{x.from, y.from}, Point{x.to, y.from})
	s.text(Point{(x.from + x.to) / 2, y.from + 17 + 17}, smallStyle, middle, c.X.Name)
	if c.Y.Name != "" {
		fmt.Fprintf(s.w, `<g transform="translate(%.1f %.1f) rotate(-90)">`, chartMargin+2, (y.from+y.to)/2)
		s.text(Point{}, smallStyle, middle, c.Y.Name)
		s.w.WriteString("</g>\n")
	}
}

// class returns the colour of a series as a class.
func (one *Series) class() string {
	if one.Colour < 0 {
		return "k"
	}
	return fmt.Sprintf("c%d", one.Colour%fewClasses)
}

// drawSeries draws the line, the bars and the marks of a series.
func (c *Chart) drawSeries(s *svgCanvas, i int, x, y *ruler) {
	one := &c.Series[i]
	if len(one.Points) == 0 {
		return
	}
	fmt.Fprintf(s.w, `<g class="%s">`, one.class())
	switch one.Look {
	case Level:
		at := y.at(one.Points[0].Y)
		s.line("level", Point{x.from, at}, Point{x.to, at})
	case Line, Dashed:
		fmt.Fprintf(s.w, `<path class="%s" d="`, lookClass[one.Look])
		for j, p := range one.Points {
			fmt.Fprintf(s.w, "%c%.1f %.1f", "ML"[min(j, 1)], x.at(p.X), y.at(p.Y))
		}
		s.w.WriteString(`"/>`)
	}
	for _, p := range one.Points {
		if one.Look == Dashed || one.Look == Level {
			break
		}
		at := Point{x.at(p.X), y.at(p.Y)}
		low, high, words := at, at, ""
		if p.High > p.Low {
			if c.Sideways {
				low.X, high.X = x.at(p.Low), x.at(p.High)
				words = fmt.Sprintf(" (%s to %s)", c.X.show(p.Low), c.X.show(p.High))
			} else {
				low.Y, high.Y = y.at(p.Low), y.at(p.High)
				words = fmt.Sprintf(" (%s to %s)", c.Y.show(p.Low), c.Y.show(p.High))
			}
			s.line("bar", low, high)
		}
		s.mark(i, at, fmt.Sprintf("%s at %s: %s%s", one.Name, c.X.show(p.X), c.Y.show(p.Y), words))
		if p.Text != "" {
			s.text(Point{max(at.X+markRadius, high.X) + 4, at.Y + 4}, smallStyle, left, p.Text)
		}
	}
	s.w.WriteString("</g>\n")
}

var lookClass = map[Look]string{Line: "line", Dashed: "dashed", Level: "level"}

// key draws the name of a series next to a piece of its line.
func (c *Chart) key(s *svgCanvas, f *faces, i int, at Point) {
	one := &c.Series[i]
	if one.Name == "" {
		return
	}
	fmt.Fprintf(s.w, `<g class="%s">`, one.class())
	if one.Look != Marks {
		s.line(lookClass[one.Look], at, Point{at.X + keyLength, at.Y})
	}
	if one.Look == Line || one.Look == Marks {
		s.mark(i, Point{at.X + keyLength/2, at.Y}, "")
	}
	s.text(Point{at.X + keyLength + 6, at.Y + 4}, legendStyle, left, f.shorten(legendStyle, one.Name, cmp.Or(c.Width, 560)-at.X-keyLength-6))
	s.w.WriteString("</g>\n")
}

// mark draws a mark of a chart, the shapes in turn, with words for readers who point at it.
func (c *svgCanvas) mark(shape int, at Point, words string) {
	outline := c.begin(shapes[shape%len(shapes)], markRadius, "solid")
	fmt.Fprintf(c.w, ` d="M%.1f %.1f%s"><title>%s</title></path>`, at.X, at.Y, outline, html.EscapeString(printable(words)))
}
