package evaluate

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// classColors is the "muted" scheme of Tol (2021), nine colours chosen to stay
// apart under the common colour vision deficiencies, and near-black as a tenth,
// which is far from all of them.
var classColors = [...]color.NRGBA{
	{R: 0x33, G: 0x22, B: 0x88, A: 0xff}, // indigo
	{R: 0xcc, G: 0x66, B: 0x77, A: 0xff}, // rose
	{R: 0x88, G: 0xcc, B: 0xee, A: 0xff}, // cyan
	{R: 0x11, G: 0x77, B: 0x33, A: 0xff}, // green
	{R: 0xdd, G: 0xcc, B: 0x77, A: 0xff}, // sand
	{R: 0x88, G: 0x22, B: 0x55, A: 0xff}, // wine
	{R: 0x44, G: 0xaa, B: 0x99, A: 0xff}, // teal
	{R: 0xaa, G: 0x44, B: 0x99, A: 0xff}, // purple
	{R: 0x99, G: 0x99, B: 0x33, A: 0xff}, // olive
	{R: 0x11, G: 0x11, B: 0x11, A: 0xff}, // near-black
}

var (
	unlabelledColor = color.NRGBA{R: 0xdd, G: 0xdd, B: 0xdd, A: 0xff} // Tol's "bad data"
	inkColor        = color.NRGBA{R: 0x33, G: 0x33, B: 0x33, A: 0xff}
	faintColor      = color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff}
	axisColor       = color.NRGBA{R: 0xbb, G: 0xbb, B: 0xbb, A: 0xff}
	gridColor       = color.NRGBA{R: 0xec, G: 0xec, B: 0xec, A: 0xff}
)

// shape is the outline of a marker. Colours repeat after ten classes, the pair
// of colour and shape after distinctStyles.
type shape int

const (
	disc shape = iota
	square
	triangle
	shapes
)

const distinctStyles = int(shapes) * len(classColors)

// marker draws one point: filled with a thin white rim, which keeps points apart
// where they crowd, or hollow with a rim in the colour of the class.
type marker struct {
	shape  shape
	hollow bool
}

// DrawGlyph implements draw.GlyphDrawer.
func (m marker) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	radius := style.Radius
	fill, rim, width := style.Color, color.Color(color.White), 0.12*radius
	if m.hollow {
		fill, rim, width = color.White, style.Color, 0.4*radius
		radius -= width / 2 // half of the rim lies outside the path
	}
	path := m.shape.path(at, radius)
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: rim, Width: width})
	c.Stroke(path)
}

// path returns the outline. Squares and triangles are a little larger than the
// radius says, so that all shapes cover about the same area.
func (s shape) path(at vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	switch s {
	case square:
		h := 0.88 * r
		p.Move(vg.Point{X: at.X - h, Y: at.Y - h})
		p.Line(vg.Point{X: at.X + h, Y: at.Y - h})
		p.Line(vg.Point{X: at.X + h, Y: at.Y + h})
		p.Line(vg.Point{X: at.X - h, Y: at.Y + h})
	case triangle:
		r *= 1.4
		dx := r * vg.Length(math.Sqrt(3)/2)
		p.Move(vg.Point{X: at.X, Y: at.Y + r})
		p.Line(vg.Point{X: at.X - dx, Y: at.Y - r/2})
		p.Line(vg.Point{X: at.X + dx, Y: at.Y - r/2})
	default:
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
	}
	p.Close()
	return p
}

// classStyle returns the style of the class at a place among the sorted classes,
// or that of unlabelled rows for a negative place.
func classStyle(place int, hollow bool, radius vg.Length) draw.GlyphStyle {
	if place < 0 {
		return draw.GlyphStyle{Color: unlabelledColor, Radius: radius, Shape: marker{hollow: hollow}}
	}
	return draw.GlyphStyle{
		Color:  classColors[place%len(classColors)],
		Radius: radius,
		Shape:  marker{shape: shape(place / len(classColors) % int(shapes)), hollow: hollow},
	}
}
