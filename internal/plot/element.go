package plot

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
)

// Element returns the only panel, of rows with labels, as an element of a page that has Style. It
// has no words: they are the page's. Classes beyond the twelfth have the colours of the first again,
// and other shapes.
func (s *Scatter) Element() (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	if len(s.Panels) != 1 || s.Labels == nil {
		return "", fmt.Errorf("plot: %w: an element has one panel, of rows with labels", ErrPlot)
	}
	f := &figure{Scatter: s}
	f.sortClasses()
	f.group()
	places := viewOf(s.Panels[0].Points, Point{}).places(s.Panels[0].Points)
	return element(func(c *svgCanvas) {
		c.open(panelSize, panelSize, s.Title, "")
		c.frame(Point{0.5, 0.5}, panelSize-1)
		for _, g := range f.groups {
			class, shape := "n", 0
			if place := f.place[g[0]]; place >= 0 {
				class, shape = "c"+strconv.Itoa(place%fewClasses), place/fewClasses%len(shapes)
			}
			c.end(these(places, g), c.begin(shapes[shape], 1.4*f.radius(), class)) // pages show it small
		}
		for _, at := range these(places, s.Ringed) {
			fmt.Fprintf(c.w, `<circle class="k" fill="none" stroke="currentColor" stroke-width="3" cx="%.1f" cy="%.1f" r="10"/>`, at.X, at.Y)
		}
		c.w.WriteString("</svg>\n")
	}), nil
}

// element returns what a function draws.
func element(draw func(*svgCanvas)) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	draw(&svgCanvas{w: w})
	w.Flush() // a Builder does not fail
	return b.String()
}
