package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
)

// A canvas is the surface on which a figure is drawn. Places are in units of the figure, y
// downwards.
type canvas interface {
	frame(at Point, size float64)
	tick(from, to Point)
	text(at Point, s style, where anchor, text string)
	// halo is text on top of points.
	halo(at Point, s style, text string)
	// block fills a part of a scale with the colour of a band.
	block(at Point, width, height float64, band int)
	// marks draws the points of a group in a panel, or in a legend if there is no panel.
	marks(m marks)
}

// anchor says which part of a text is at its place.
type anchor int

const (
	left anchor = iota
	middle
	right
)

// marks are points of one class.
type marks struct {
	place  int // of the class among all; negative for none
	radius float64
	at     []Point
	rows   []int // their places among the rows of the scatter; nil in a legend
	panel  int
}

// figure is a scatter with the places of all its parts.
type figure struct {
	*Scatter
	faces         *faces
	classes       []int32 // ascending
	place         []int   // of the class of each row, -1 for none
	counts        []int   // of the rows of each class
	unlabelled    int
	scale         *scale  // of values; nil if there are none
	turn          []int   // of many classes; it gives their colours
	groups        [][]int // rows in the order they are drawn, each group of one class
	width, height float64
	legend        *legend
	caption       []string
}

// The parts of a figure.
const (
	pad       = 22.0
	panelSize = 480.0
	tickSpace = 58.0 // left of a panel
	panelTop  = 76.0
	belowAxes = 52.0            // ticks and descriptions of the axes
	edge      = pad + tickSpace // the left edge of texts
	lineSkip  = 1.45
)

func newFigure(s *Scatter) *figure {
	f := &figure{Scatter: s, faces: newFaces(1)}
	switch {
	case s.Values != nil:
		f.cutValues()
	case s.Labels == nil:
		f.cutBands()
	default:
		f.sortClasses()
	}
	f.group()
	if f.many() {
		f.turn = f.turns()
	}
	f.width = 2*pad + float64(len(s.Panels))*(panelSize+tickSpace)
	f.legend = f.newLegend(panelTop + panelSize + belowAxes)
	f.caption = f.faces.wrap(captionStyle, printable(f.words()), f.inner())
	f.height = f.legend.bottom + pad
	if len(f.caption) > 0 {
		f.height += captionStyle.size * lineSkip * float64(len(f.caption))
	}
	return f
}

// inner is the width of the parts above and below the panels.
func (f *figure) inner() float64 { return f.width - edge - pad }

// bands is the number of parts with different colours into which rows without labels are divided.
const bands = 24

// cutBands replaces classes if there are none: rows get their colours by their order
// from left to right in the last panel, so that readers can find them in the others.
func (f *figure) cutBands() {
	last := f.Panels[len(f.Panels)-1].Points
	order := make([]int, len(last))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(last[a].X, last[b].X) })
	f.place = make([]int, len(last))
	for i, row := range order {
		f.place[row] = share(i, bands, len(last))
	}
}

// groupCount is how many classes or bands there are.
func (f *figure) groupCount() int {
	if f.Labels == nil {
		return bands
	}
	return len(f.classes)
}

// many reports whether there are too many classes for a colour and a shape each.
func (f *figure) many() bool { return len(f.classes) > fewClasses }

// colour returns the colour of a class by its place; a negative place means no class.
func (f *figure) colour(t *theme, place int) color.RGBA {
	switch {
	case f.Labels == nil && place >= 0:
		return t.band(place)
	case place >= 0 && f.many():
		return t.many(f.turn[place], len(f.classes))
	}
	return t.few(place)
}

// words returns the caption, and a note about many classes.
func (f *figure) words() string {
	switch {
	case f.Values != nil:
		return f.Caption
	case f.Labels == nil && len(f.Panels) > 1:
		return f.Caption + " No labels: colours follow the order from left to right in the last panel."
	case !f.many():
		return f.Caption
	}
	text := fmt.Sprintf("%s %d classes: their names are at their middles where there is room, and classes that are near each other in the last panel have similar colours.", f.Caption, len(f.classes))
	if len(f.classes) > mostListed {
		text += fmt.Sprintf(" Only the %d classes with the most rows have names, and there is no list of all classes.", mostNames)
	}
	return text
}

// sortClasses finds the classes and their rows.
func (f *figure) sortClasses() {
	n := len(f.Panels[0].Points)
	f.classes = slices.Clone(f.Labels)
	slices.Sort(f.classes)
	f.classes = slices.DeleteFunc(slices.Compact(f.classes), func(c int32) bool { return c < 0 })
	f.place, f.counts = make([]int, n), make([]int, len(f.classes))
	for i := range f.place {
		f.place[i] = -1
		if f.Labels[i] < 0 {
			f.unlabelled++
			continue
		}
		f.place[i], _ = slices.BinarySearch(f.classes, f.Labels[i])
		f.counts[f.place[i]]++
	}
}

// rounds is how often the classes take turns, so that points of one class do not hide all others.
const rounds = 8

// group sets the order of drawing: rows without a class, then some of each class in turn.
func (f *figure) group() {
	turns := make([][][]int, rounds)
	for r := range turns {
		turns[r] = make([][]int, f.groupCount())
	}
	var none []int
	seen := make([]int, f.groupCount())
	for i, c := range f.place {
		if c < 0 {
			none = append(none, i)
			continue
		}
		r := seen[c] % rounds
		seen[c]++
		turns[r][c] = append(turns[r][c], i)
	}
	for _, g := range append([][]int{none}, slices.Concat(turns...)...) {
		if len(g) > 0 {
			f.groups = append(f.groups, g)
		}
	}
}

// draw draws everything.
func (f *figure) draw(c canvas) {
	c.text(Point{edge, pad + titleStyle.size}, titleStyle, left, f.faces.shorten(titleStyle, f.Title, f.inner()))
	for i := range f.Panels {
		f.drawPanel(c, i)
	}
	f.legend.draw(f, c)
	for i, line := range f.caption {
		c.text(Point{edge, f.legend.bottom + captionStyle.size*lineSkip*float64(i+1)}, captionStyle, left, line)
	}
}
