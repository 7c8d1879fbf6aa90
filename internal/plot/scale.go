package plot

import (
	"fmt"
	"math"
	"slices"
)

// scale maps values to bands of colour.
type scale struct {
	low, high     float64
	below, beyond bool // there are values outside
	missing       int  // rows without a value
	at            Point
}

// newScale returns a scale from the smallest value to the largest. But if a hundredth of them
// or fewer would leave only a third of the colours to the others, the scale covers those
// others.
func newScale(values []float64) *scale {
	s := new(scale)
	known := make([]float64, 0, len(values))
	for _, v := range values {
		if v-v == 0 {
			known = append(known, v)
		}
	}
	s.missing = len(values) - len(known)
	if len(known) == 0 {
		return s
	}
	slices.Sort(known)
	last := len(known) - 1
	s.low, s.high = known[0], known[last]
	but := len(known) / 200
	if low, high := known[but], known[last-but]; high > low && high/3-low/3 < s.high/9-s.low/9 {
		s.below, s.beyond = low > s.low, high < s.high
		s.low, s.high = low, high
	}
	return s
}

// part returns the place of a value between the ends, from 0 to 1.
func (s *scale) part(v float64) float64 {
	if s.high == s.low {
		return 0.5
	}
	// Halves, since the difference of two large numbers may be infinite.
	return min(max((v/2-s.low/2)/(s.high/2-s.low/2), 0), 1)
}

// band returns the band of a value, -1 for none.
func (s *scale) band(v float64) int {
	if v-v != 0 {
		return -1
	}
	return min(int(s.part(v)*bands), bands-1)
}

// cutValues gives rows the bands of their values.
func (f *figure) cutValues() {
	f.scale = newScale(f.Values)
	f.unlabelled = f.scale.missing
	f.place = make([]int, len(f.Values))
	for i, v := range f.Values {
		f.place[i] = f.scale.band(v)
	}
}

// The bar of colours, and the parts above and below it.
const (
	scaleWidth  = panelSize
	scaleHeight = 14.0
	scaleTop    = 8.0 // between the name and the bar
)

// set places the scale below the panels and returns where it ends.
func (s *scale) set(top float64) float64 {
	s.at = Point{edge, top + legendStyle.size + scaleTop}
	return s.at.Y + scaleHeight + 22
}

// draw draws the name, the bar and round numbers below it.
func (s *scale) draw(f *figure, c canvas) {
	c.text(Point{s.at.X, s.at.Y - scaleTop}, legendStyle, left, f.faces.shorten(legendStyle, f.ValueName, f.inner()))
	for band := range bands {
		c.block(Point{s.at.X + scaleWidth/bands*float64(band), s.at.Y}, scaleWidth/bands, scaleHeight, band)
	}
	bottom := s.at.Y + scaleHeight
	mark := func(part float64, text string) {
		x := s.at.X + scaleWidth*part
		c.tick(Point{x, bottom}, Point{x, bottom + 4})
		c.text(Point{x, bottom + 16}, smallStyle, middle, text)
	}
	ticks, step := []float64(nil), 0.0
	if span := s.high - s.low; span > 0 && span < math.MaxFloat64 {
		step = roundStep(span)
		ticks = multiples(s.low, s.high, step)
	}
	if len(ticks) < 2 { // values that differ little for their magnitude
		ticks, step = nil, 0
		mark(0, s.end(s.low, s.below, "up to "))
		if s.high > s.low {
			mark(1, s.end(s.high, s.beyond, "from "))
		}
	}
	for _, t := range ticks {
		mark(s.part(t), tickText(t, step))
	}
	var outside string
	if s.below {
		outside += fmt.Sprintf("; first colour: all below %.4g", s.low)
	}
	if s.beyond {
		outside += fmt.Sprintf("; last colour: all above %.4g", s.high)
	}
	if outside != "" {
		c.text(Point{s.at.X + scaleWidth + keyWidth, s.at.Y + scaleHeight - 3}, smallStyle, left, f.faces.shorten(smallStyle, outside[2:], f.inner()-scaleWidth-keyWidth))
	}
}

// end writes an end of the scale.
func (s *scale) end(v float64, more bool, words string) string {
	if !more {
		words = ""
	}
	return fmt.Sprintf("%s%.6g", words, v)
}
