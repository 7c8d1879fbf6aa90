package plot

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// pngScale is how many pixels a unit of a figure has.
const pngScale = 2

// pngCanvas draws pixels.
type pngCanvas struct {
	f     *figure
	to    *image.RGBA
	theme *theme
	faces *faces
	ras   *vector.Rasterizer
}

// writePNG writes a picture on white.
func writePNG(w io.Writer, f *figure) error {
	size := image.Rect(0, 0, int(math.Ceil(f.width*pngScale)), int(math.Ceil(f.height*pngScale)))
	c := &pngCanvas{f: f, to: image.NewRGBA(size), theme: light(), faces: newFaces(pngScale), ras: new(vector.Rasterizer)}
	draw.Draw(c.to, size, image.NewUniform(c.theme.paper), image.Point{}, draw.Src)
	f.draw(c)
	return png.Encode(w, c.to)
}

// fill fills a polygon, given in pixels.
func (c *pngCanvas) fill(p []Point, with color.Color) {
	lo, hi := extent(p, 0)
	x, y := int(math.Floor(lo.X)), int(math.Floor(lo.Y))
	box := image.Rect(x, y, int(math.Ceil(hi.X))+1, int(math.Ceil(hi.Y))+1)
	c.ras.Reset(box.Dx(), box.Dy())
	for i, at := range p {
		px, py := float32(at.X-float64(x)), float32(at.Y-float64(y))
		if i == 0 {
			c.ras.MoveTo(px, py)
		} else {
			c.ras.LineTo(px, py)
		}
	}
	c.ras.ClosePath()
	c.ras.Draw(c.to, box, image.NewUniform(with), image.Point{})
}

// line draws a horizontal or vertical line of one unit in width.
func (c *pngCanvas) line(from, to Point, with color.Color) {
	const half = 0.5
	lo := Point{min(from.X, to.X) - half, min(from.Y, to.Y) - half}
	hi := Point{max(from.X, to.X) + half, max(from.Y, to.Y) + half}
	if from.X == to.X {
		lo.Y, hi.Y = lo.Y+half, hi.Y-half
	} else {
		lo.X, hi.X = lo.X+half, hi.X-half
	}
	c.fill(pixels([]Point{lo, {hi.X, lo.Y}, hi, {lo.X, hi.Y}}), with)
}

// pixels returns places in pixels.
func pixels(p []Point) []Point {
	out := make([]Point, len(p))
	for i, at := range p {
		out[i] = Point{at.X * pngScale, at.Y * pngScale}
	}
	return out
}

func (c *pngCanvas) frame(at Point, size float64) {
	other := Point{at.X + size, at.Y + size}
	for _, side := range [][2]Point{{at, {other.X, at.Y}}, {{at.X, other.Y}, other}, {at, {at.X, other.Y}}, {{other.X, at.Y}, other}} {
		c.line(side[0], side[1], c.theme.line)
	}
}

func (c *pngCanvas) tick(from, to Point) { c.line(from, to, c.theme.soft) }

func (c *pngCanvas) text(at Point, s style, where anchor, text string) {
	ink := c.theme.ink
	if s.soft {
		ink = c.theme.soft
	}
	c.letters(c.start(at, s, where, text), s, text, ink)
}

func (c *pngCanvas) halo(at Point, s style, text string) {
	at = c.start(at, s, middle, text)
	const around = 12
	for i := range around {
		a := 2 * math.Pi * float64(i) / around
		c.letters(Point{at.X + 1.5*math.Cos(a), at.Y + 1.5*math.Sin(a)}, s, text, c.theme.paper)
	}
	c.letters(at, s, text, c.theme.ink)
}

// start returns where a text begins.
func (c *pngCanvas) start(at Point, s style, where anchor, text string) Point {
	at.X -= c.faces.width(s, text) * float64(where) / 2
	return at
}

func (c *pngCanvas) letters(at Point, s style, text string, ink color.Color) {
	d := font.Drawer{
		Dst: c.to, Src: image.NewUniform(ink), Face: c.faces.face(s),
		Dot: fixed.Point26_6{X: fixed.Int26_6(math.Round(at.X * pngScale * 64)), Y: fixed.Int26_6(math.Round(at.Y * pngScale * 64))},
	}
	d.DrawString(text)
}

func (c *pngCanvas) block(at Point, width, height float64, band int) {
	other := Point{at.X + width, at.Y + height}
	c.fill(pixels([]Point{at, {other.X, at.Y}, other, {at.X, other.Y}}), c.f.colour(c.theme, band))
}

// discCorners is the number of corners of a polygon that looks like a disc of some pixels.
const discCorners = 24

func (c *pngCanvas) marks(m marks) {
	shape := shapes[shapeOf(m.place, c.f.groupCount())]
	if shape == nil {
		shape = polygon(discCorners, 1, 0)
	}
	with := c.f.colour(c.theme, m.place)
	seen := color.NRGBA{with.R, with.G, with.B, 204} // as in the style sheet
	outline := make([]Point, len(shape))
	for _, at := range m.at {
		for i, p := range shape {
			outline[i] = Point{(at.X + m.radius*p.X) * pngScale, (at.Y + m.radius*p.Y) * pngScale}
		}
		c.fill(outline, seen)
	}
}
