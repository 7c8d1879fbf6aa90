package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// view maps the points of a panel into its frame, with one scale for both axes.
type view struct {
	corner  Point // of the frame, upper left
	centre  Point // in units of the panel
	scale   float64
	outside int // points beyond the frame
}

// frameMargin is the distance of points from the frame.
const frameMargin = 14.0

// viewOf shows all points. But if a hundredth of them or fewer would shrink the others to
// a third of the frame, it shows those others and their surroundings.
func viewOf(p []Point, corner Point) *view {
	lo, hi := extent(p, 0)
	innerLo, innerHi := extent(p, len(p)/200)
	if inner := span(innerLo, innerHi); inner > 0 && inner < span(lo, hi)/3 {
		near := slices.DeleteFunc(slices.Clone(p), func(at Point) bool {
			return min(at.X-innerLo.X, at.Y-innerLo.Y) < -inner/2 || max(at.X-innerHi.X, at.Y-innerHi.Y) > inner/2
		})
		lo, hi = extent(near, 0)
	}
	v := &view{corner: corner, centre: Point{lo.X + (hi.X-lo.X)/2, lo.Y + (hi.Y-lo.Y)/2}}
	size := span(lo, hi)
	if size == 0 {
		size = max(math.Abs(v.centre.X), math.Abs(v.centre.Y), 1)
	}
	v.scale = (panelSize - 2*frameMargin) / size
	for _, at := range p {
		if in := v.at(at); in != v.clamp(in) {
			v.outside++
		}
	}
	return v
}

// span returns the longer side of a box.
func span(lo, hi Point) float64 { return max(hi.X-lo.X, hi.Y-lo.Y) }

// extent returns the box of the points without the given number at each side.
func extent(p []Point, but int) (lo, hi Point) {
	xs, ys := make([]float64, len(p)), make([]float64, len(p))
	for i, at := range p {
		xs[i], ys[i] = at.X, at.Y
	}
	slices.Sort(xs)
	slices.Sort(ys)
	last := len(p) - 1 - but
	return Point{xs[but], ys[but]}, Point{xs[last], ys[last]}
}

// at returns the place of a point.
func (v *view) at(p Point) Point {
	return Point{
		v.corner.X + panelSize/2 + v.scale*(p.X-v.centre.X),
		v.corner.Y + panelSize/2 - v.scale*(p.Y-v.centre.Y),
	}
}

// clamp returns the nearest place within the frame.
func (v *view) clamp(p Point) Point {
	const inset = 4
	return Point{
		min(max(p.X, v.corner.X+inset), v.corner.X+panelSize-inset),
		min(max(p.Y, v.corner.Y+inset), v.corner.Y+panelSize-inset),
	}
}

// places returns where points are drawn.
func (v *view) places(p []Point) []Point {
	out := make([]Point, len(p))
	for i, at := range p {
		out[i] = v.clamp(v.at(at))
	}
	return out
}

// these returns the points of some rows.
func these(p []Point, rows []int) []Point {
	out := make([]Point, len(rows))
	for i, row := range rows {
		out[i] = p[row]
	}
	return out
}

// radius returns that of the marks.
func (f *figure) radius() float64 {
	n := float64(len(f.Panels[0].Points))
	return min(max(4.4-0.75*math.Log10(max(n, 10)), 1.6), 3.4)
}

// drawPanel draws a frame with its ticks, points and names of classes.
func (f *figure) drawPanel(c canvas, i int) {
	p := &f.Panels[i]
	corner := Point{pad + tickSpace + float64(i)*(panelSize+tickSpace), panelTop}
	v := viewOf(p.Points, corner)
	c.text(Point{corner.X, corner.Y - 10}, panelStyle, left, f.faces.shorten(panelStyle, p.Title, panelSize))
	c.frame(corner, panelSize)
	v.ticks(c)
	places := v.places(p.Points)
	for _, g := range f.groups {
		c.marks(marks{place: f.place[g[0]], radius: f.radius(), rows: g, panel: i, at: these(places, g)})
	}
	if f.many() {
		f.drawNames(c, places, corner)
	}
	axes := p.Axes
	if v.outside > 0 {
		axes += fmt.Sprintf("; beyond the frame and at its edge: %d", v.outside)
	}
	c.text(Point{corner.X, corner.Y + panelSize + 34}, smallStyle, left, f.faces.shorten(smallStyle, axes, panelSize))
}

// ticks draws round numbers along the lower and the left side.
func (v *view) ticks(c canvas) {
	half := panelSize / 2 / v.scale
	step := roundStep(2 * half)
	for _, t := range multiples(v.centre.X-half, v.centre.X+half, step) {
		x, y := v.at(Point{X: t}).X, v.corner.Y+panelSize
		c.tick(Point{x, y}, Point{x, y + 4})
		c.text(Point{x, y + 16}, smallStyle, middle, tickText(t, step))
	}
	for _, t := range multiples(v.centre.Y-half, v.centre.Y+half, step) {
		y := v.at(Point{Y: t}).Y
		c.tick(Point{v.corner.X - 4, y}, Point{v.corner.X, y})
		c.text(Point{v.corner.X - 7, y + 4}, smallStyle, right, tickText(t, step))
	}
}

// roundStep returns 1, 2 or 5 times a power of ten, about a quarter of the span.
func roundStep(span float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= span/6 {
			return f * power
		}
	}
	return 10 * power
}

// mostSteps is how many steps from zero a tick may be: five digits.
const mostSteps = 1e4

// multiples returns the multiples of step between lo and hi, or none if they have many digits.
func multiples(lo, hi, step float64) (out []float64) {
	first := math.Ceil(lo / step)
	if !(max(math.Abs(lo), math.Abs(hi)) < mostSteps*step) {
		return nil
	}
	for k := first; k*step <= hi; k++ {
		out = append(out, k*step)
	}
	return out
}

// tickText writes a multiple of step without digits from rounding errors.
func tickText(t, step float64) string {
	if math.Abs(t) < step/2 {
		return "0"
	}
	text := strconv.FormatFloat(t, 'g', 5, 64)
	if digits, power, ok := strings.Cut(text, "e"); ok {
		p, _ := strconv.Atoi(power) // valid, since it was formatted above
		text = digits + "e" + strconv.Itoa(p)
	}
	return text
}
