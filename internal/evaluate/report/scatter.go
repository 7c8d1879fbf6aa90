package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// A Picture shows points of the plane, coloured by class.
type Picture struct {
	Title   string
	Caption string
	Points  *mat.Dense // n x 2
	Labels  []int32    // -1 for none: pale
	// Marked rows are drawn large and on top, such as the query.
	Marked []int
}

// check returns what keeps the picture from being drawn.
func (p *Picture) check() error {
	if p.Points == nil || p.Points.IsEmpty() {
		return fmt.Errorf("%w: no points", evaluate.ErrShape)
	}
	n, d := p.Points.Dims()
	if d != 2 || len(p.Labels) != n {
		return fmt.Errorf("%w: %d x %d points with %d labels", evaluate.ErrShape, n, d, len(p.Labels))
	}
	for i := range n {
		if x, y := p.Points.At(i, 0), p.Points.At(i, 1); math.IsNaN(x-x) || math.IsNaN(y-y) {
			return fmt.Errorf("%w: point %d", evaluate.ErrNonFinite, i+1)
		}
	}
	for _, i := range p.Marked {
		if i < 0 || i >= n {
			return fmt.Errorf("%w: point %d is marked, of %d", evaluate.ErrRow, i+1, n)
		}
	}
	return nil
}

const (
	scatterSize   = 340.0
	scatterMargin = 12.0
)

// svg draws the points with the same scale on both axes.
func (p *Picture) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="scatter" viewBox="0 0 %g %g" role="img" aria-label="%s">`, scatterSize, scatterSize, html.EscapeString(p.Title))
	fmt.Fprintf(&b, `<rect class="frame" x="0.5" y="0.5" width="%g" height="%g" rx="6"/>`, scatterSize-1, scatterSize-1)
	place := p.placement()
	classes := slices.Clone(p.Labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if len(classes) > 0 && classes[0] < 0 {
		classes = classes[1:]
	}
	n, _ := p.Points.Dims()
	radius := 2.6
	if n > 800 {
		radius = 1.9
	}
	for i := range n {
		x, y := place(i)
		class, shape := "none", 0
		if p.Labels[i] >= 0 {
			at, _ := slices.BinarySearch(classes, p.Labels[i])
			class, shape = fmt.Sprintf("c%d", at%paletteSize), at/paletteSize
		}
		fmt.Fprintf(&b, `<g class="dot %s">`, class)
		marker(&b, shape, x, y, radius, "")
		b.WriteString(`</g>`)
	}
	for _, i := range p.Marked {
		x, y := place(i)
		fmt.Fprintf(&b, `<circle class="ring" cx="%.1f" cy="%.1f" r="7"/>`, x, y)
	}
	b.WriteString("</svg>")
	return b.String()
}

// placement maps row i into the picture, all rows within it.
func (p *Picture) placement() func(i int) (x, y float64) {
	n, _ := p.Points.Dims()
	lo, hi := [2]float64{}, [2]float64{}
	for j := range 2 {
		lo[j], hi[j] = p.Points.At(0, j), p.Points.At(0, j)
		for i := range n {
			lo[j], hi[j] = min(lo[j], p.Points.At(i, j)), max(hi[j], p.Points.At(i, j))
		}
	}
	span := max(hi[0]-lo[0], hi[1]-lo[1])
	if span == 0 {
		span = 1
	}
	unit := (scatterSize - 2*scatterMargin) / span
	return func(i int) (x, y float64) {
		x = scatterSize/2 + unit*(p.Points.At(i, 0)-(lo[0]+hi[0])/2)
		y = scatterSize/2 - unit*(p.Points.At(i, 1)-(lo[1]+hi[1])/2)
		return x, y
	}
}
