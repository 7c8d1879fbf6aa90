package evaluate

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// equalScale widens the axes of p until a unit has the same length on both when
// p is drawn on the returned part of c, which is nearly all of it, and gives both
// the same ticks: the grid consists of squares.
func equalScale(p *plot.Plot, c draw.Canvas) draw.Canvas {
	midX, midY := p.X.Min/2+p.X.Max/2, p.Y.Min/2+p.Y.Max/2
	spanX, spanY := p.X.Max-p.X.Min, p.Y.Max-p.Y.Min
	if spanX == 0 && spanY == 0 {
		spanX, spanY = 1, 1 // all points coincide
	}
	// An axis must have room that float64 resolves; then some for the markers.
	least := max(1e-300, 1e-9*math.Abs(midX), 1e-9*math.Abs(midY))
	spanX, spanY = 1.06*max(spanX, least), 1.06*max(spanY, least)

	set := func(width, height float64) {
		p.X.Min, p.X.Max = midX-width/2, midX+width/2
		p.Y.Min, p.Y.Max = midY-height/2, midY+height/2
		t := ticksFor(min(width, height))
		p.X.Tick.Marker, p.Y.Tick.Marker = t, t
	}
	// The labels of the ticks take room from the data, and which labels there
	// are depends on that room. Some rounds settle it, unless a label at the
	// very end of an axis comes and goes; cropping removes what is left.
	set(max(spanX, spanY), max(spanX, spanY))
	dataSize := func() (width, height float64) {
		size := p.DataCanvas(c).Size()
		return max(float64(size.X), 1), max(float64(size.Y), 1)
	}
	for range 3 {
		width, height := dataSize()
		unit := max(spanX/width, spanY/height)
		set(unit*width, unit*height)
	}
	width, height := dataSize()
	ratio := (p.X.Max - p.X.Min) / (p.Y.Max - p.Y.Min)
	return draw.Crop(c,
		0, -vg.Length(max(width-ratio*height, 0)),
		0, -vg.Length(max(height-width/ratio, 0)))
}

// decimalTicks puts ticks at the multiples of digit * 10^exponent.
type decimalTicks struct {
	digit    float64 // 1, 2 or 5
	exponent int
}

// ticksFor returns the ticks of which three to seven fall in a range of the
// given width.
func ticksFor(span float64) decimalTicks {
	least := span / 7
	exponent := int(math.Floor(math.Log10(least)))
	for _, digit := range []float64{1, 2, 5} {
		if t := (decimalTicks{digit, exponent}); t.step() >= least {
			return t
		}
	}
	return decimalTicks{1, exponent + 1}
}

func (t decimalTicks) step() float64 {
	return t.digit * math.Pow10(t.exponent)
}

// Ticks implements plot.Ticker.
func (t decimalTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	step := t.step()
	first := math.Ceil(low / step)
	// The bound holds even where first+1 == first.
	for i := range 100 {
		v := (first + float64(i)) * step
		if v > high {
			break
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: t.label(v)})
	}
	return ticks
}

// label prints v with the digits that the step needs.
func (t decimalTicks) label(v float64) string {
	if v == 0 {
		return "0" // never "-0"
	}
	if t.exponent < -4 || t.exponent > 5 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -t.exponent), 64)
}
