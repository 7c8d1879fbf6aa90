package plot

import (
	"cmp"
	"math"
	"slices"
)

// box is a part of the picture that a name takes.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) meets(o box) bool { return b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1 }

// mostNames is the most names in a panel: more would hide the points.
const mostNames = 120

// drawNames writes the number or name of many classes at their middles, or next to them if
// there is no room. Classes with many rows come first, and names that would cover another
// are left out.
func (f *figure) drawNames(c canvas, places []Point, corner Point) {
	order := make([]int, len(f.classes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.counts[b], f.counts[a]) })
	middles := f.middles(places)
	var taken []box
	for _, class := range order[:min(len(order), mostNames)] {
		text := f.faces.shorten(labelStyle, f.name(f.classes[class]), 64)
		w, h := f.faces.room(labelStyle, text)/2+1, labelStyle.size/2
		for _, shift := range []Point{{0, 0}, {0, -2}, {0, 2}, {-2, 0}, {2, 0}} {
			at := middles[class]
			at.X = min(max(at.X+shift.X*w, corner.X+w), corner.X+panelSize-w)
			at.Y = min(max(at.Y+shift.Y*h, corner.Y+h), corner.Y+panelSize-h)
			b := box{at.X - w, at.Y - h, at.X + w, at.Y + h}
			if slices.ContainsFunc(taken, b.meets) {
				continue
			}
			taken = append(taken, b)
			c.halo(Point{at.X, at.Y + labelStyle.size*0.36}, labelStyle, text)
			break
		}
	}
}

// middles returns the place of the medians of each class.
func (f *figure) middles(places []Point) []Point {
	xs, ys := make([][]float64, len(f.classes)), make([][]float64, len(f.classes))
	for i, class := range f.place {
		if class >= 0 {
			xs[class], ys[class] = append(xs[class], places[i].X), append(ys[class], places[i].Y)
		}
	}
	out := make([]Point, len(f.classes))
	for class := range out {
		out[class] = Point{median(xs[class]), median(ys[class])}
	}
	return out
}

// median returns the middle of the numbers, which it sorts.
func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// turns numbers many classes by the angle of their middles in the last panel. So classes
// that are near each other there have similar colours, and readers can find them in the
// other panels.
func (f *figure) turns() []int {
	middles := f.middles(f.Panels[len(f.Panels)-1].Points)
	xs, ys := make([]float64, len(middles)), make([]float64, len(middles))
	for i, at := range middles {
		xs[i], ys[i] = at.X, at.Y
	}
	centre := Point{median(xs), median(ys)}
	order := make([]int, len(middles))
	for i := range order {
		order[i] = i
	}
	angle := func(i int) float64 { return math.Atan2(middles[i].Y-centre.Y, middles[i].X-centre.X) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(angle(a), angle(b)) })
	turn := make([]int, len(middles))
	for t, class := range order {
		turn[class] = t
	}
	return turn
}
