package plot

import (
	"bufio"
	"fmt"
	"html"
	"image/color"
	"io"
	"strconv"
	"strings"
)

// svgCanvas writes elements. A style sheet, which differs between a picture and a page,
// has the colours.
type svgCanvas struct {
	w    *bufio.Writer
	f    *figure
	page bool   // with row numbers and classes, for the script of the page
	room []byte // for a place
}

// writeSVG writes a picture on white.
func writeSVG(w io.Writer, f *figure) error {
	c := &svgCanvas{w: bufio.NewWriter(w), f: f}
	c.open(f.width, f.height, f.Title, svgRules+themeRules(light(), f.groupCount(), f.colour))
	f.draw(c)
	c.w.WriteString("</svg>\n")
	return c.w.Flush()
}

// open begins a picture on white, or, without a style, an element of a page.
func (c *svgCanvas) open(width, height float64, title, style string) {
	title = html.EscapeString(printable(title))
	fmt.Fprintf(c.w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img"`, width, height, width, height)
	if style == "" {
		fmt.Fprintf(c.w, " aria-label=\"%s\">\n", title)
		return
	}
	fmt.Fprintf(c.w, "><title>%s</title><style>%s</style><rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", title, style, css(light().paper))
}

// svgRules are the rules that colours do not change. Marks of class d are discs: lines of
// no length with round ends.
const svgRules = `text{font-family:system-ui,"Segoe UI","Liberation Sans",Arial,sans-serif}.b{font-weight:600}` +
	`.m{fill:currentColor;opacity:.8}.d{fill:none;stroke:currentColor;stroke-linecap:round;opacity:.8}` +
	`.h{font-weight:600;text-anchor:middle;paint-order:stroke;stroke-width:3;stroke-linejoin:round}`

// themeRules are the rules of a theme, with the colours of classes.
func themeRules(t *theme, classes int, colour func(*theme, int) color.RGBA) string {
	var b strings.Builder
	fmt.Fprintf(&b, `text{fill:%s}.s{fill:%s}.f{fill:none;stroke:%s}.g{stroke:%s;opacity:.6}.t{stroke:%s}.h{stroke:%s}.n{color:%s}.k{color:%s}`,
		css(t.ink), css(t.soft), css(t.line), css(t.line), css(t.soft), css(t.paper), css(t.none), css(t.ink))
	for place := range classes {
		fmt.Fprintf(&b, `.c%d{color:%s}`, place, css(colour(t, place)))
	}
	return b.String()
}

func css(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func (c *svgCanvas) frame(at Point, size float64) {
	fmt.Fprintf(c.w, `<rect class="f" x="%g" y="%g" width="%g" height="%g" rx="4"/>`, at.X, at.Y, size, size)
}

func (c *svgCanvas) tick(from, to Point) { c.line("t", from, to) }

func (c *svgCanvas) line(class string, from, to Point) {
	fmt.Fprintf(c.w, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, from.X, from.Y, to.X, to.Y)
}

func (c *svgCanvas) text(at Point, s style, where anchor, text string) {
	class := ""
	if s.bold {
		class = "b"
	}
	if s.soft {
		class += " s"
	}
	fmt.Fprintf(c.w, `<text class="%s" x="%.1f" y="%.1f" font-size="%g" text-anchor="%s">%s</text>`,
		strings.TrimSpace(class), at.X, at.Y, s.size, []string{"start", "middle", "end"}[where], html.EscapeString(text))
}

func (c *svgCanvas) halo(at Point, s style, text string) {
	fmt.Fprintf(c.w, `<text class="h" x="%.1f" y="%.1f" font-size="%g">%s</text>`, at.X, at.Y, s.size, html.EscapeString(text))
}

func (c *svgCanvas) block(at Point, width, height float64, band int) {
	fmt.Fprintf(c.w, `<rect class="c%d" fill="currentColor" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, band, at.X, at.Y, width, height)
}

// marks writes one path. Every mark begins with M and its place.
func (c *svgCanvas) marks(m marks) {
	class := "n"
	if m.place >= 0 {
		class = "c" + strconv.Itoa(m.place)
	}
	outline := c.begin(shapes[shapeOf(m.place, c.f.groupCount())], m.radius, class)
	if c.page {
		c.data(m)
	}
	c.end(m.at, outline)
}

// begin begins a path of marks of a shape, and returns the way around one of them.
func (c *svgCanvas) begin(shape []Point, radius float64, class string) string {
	if shape == nil {
		fmt.Fprintf(c.w, `<path class="d %s" stroke-width="%.1f"`, class, 2*radius)
		return "h0"
	}
	fmt.Fprintf(c.w, `<path class="m %s"`, class)
	return outlineOf(shape, radius)
}

// end ends a path with marks at some places.
func (c *svgCanvas) end(at []Point, outline string) {
	c.w.WriteString(` d="`)
	for _, at := range at {
		c.room = append(c.room[:0], 'M')
		c.room = appendPlace(c.room, at.X)
		c.room = append(c.room, ' ')
		c.room = appendPlace(c.room, at.Y)
		c.w.Write(append(c.room, outline...)) // a failure shows when the buffer is flushed
	}
	c.w.WriteString("\"/>\n")
}

// data says which rows a path has.
func (c *svgCanvas) data(m marks) {
	fmt.Fprintf(c.w, ` data-c="%d"`, m.place)
	if m.rows == nil {
		return
	}
	fmt.Fprintf(c.w, ` data-p="%d"`, m.panel)
	if m.panel > 0 {
		return // the rows of the first panel
	}
	c.w.WriteString(` data-r="`)
	for i, row := range m.rows {
		if i > 0 {
			c.w.WriteByte(' ')
		}
		if c.f.Rows != nil {
			row = c.f.Rows[row]
		}
		c.w.WriteString(strconv.Itoa(row))
	}
	c.w.WriteByte('"')
}

// outlineOf returns the path around a marker from its middle, and back to it.
func outlineOf(shape []Point, radius float64) string {
	b := []byte{'m'}
	last := Point{}
	for i, p := range shape {
		if i == 1 {
			b = append(b, 'l')
		} else if i > 1 {
			b = append(b, ' ')
		}
		b = appendPlace(b, radius*p.X-last.X)
		b = append(b, ' ')
		b = appendPlace(b, radius*p.Y-last.Y)
		last = Point{radius * p.X, radius * p.Y}
	}
	return string(append(b, 'z'))
}

// appendPlace writes a number with one digit after the point, or without it if it is 0.
func appendPlace(b []byte, v float64) []byte {
	b = strconv.AppendFloat(b, v, 'f', 1, 64)
	if n := len(b); b[n-1] == '0' {
		b = b[:n-2]
	}
	return b
}
