package rows

import "math"

// Points are N points in D dimensions, given in float32 or in float64. Nobody writes to
// them. Every decision rests on distances of the given values, computed in float64.
type Points struct {
	N, D   int
	Single View[float32] // one of Single and Double has data
	Double View[float64]
	Lo, Hi []float64 // bounding box
	Radius float64   // largest distance of a point from the centre of the box; +Inf in few dimensions
}

// Extent2 returns the squared diagonal of the bounding box. No squared distance of two
// points is larger.
func (p *Points) Extent2() float64 {
	sum := 0.0
	for c := range p.Lo {
		e := p.Hi[c] - p.Lo[c]
		sum += e * e
	}
	return sum
}

// Farthest returns a distance that no two points exceed, as Dist2 computes distances. It
// is the diagonal of the box or, in many dimensions, where points are nowhere near the
// corners of the box, the diameter of the ball around its centre.
func (p *Points) Farthest() float64 {
	return min(math.Sqrt(p.Extent2()), 2*p.Radius) * (1 + float64(p.D+8)*0x1p-51)
}

// Column sets dst to coordinate c of some rows, exactly. It only copies: rows come from
// anywhere in memory, and work on one number would keep the processor from fetching the
// next numbers.
func (p *Points) Column(dst []float64, rows []uint32, c int) {
	dst = dst[:len(rows)]
	if p.Double.Data != nil {
		for i, row := range rows {
			dst[i] = p.Double.Data[int(row)*p.Double.Stride+c]
		}
		return
	}
	data, stride := p.Single.Data, p.Single.Stride
	for i, row := range rows {
		dst[i] = float64(data[int(row)*stride+c])
	}
}

// CopyRow copies row i to dst, exactly.
func (p *Points) CopyRow(dst []float64, i int) {
	if p.Double.Data != nil {
		copy(dst, p.Double.Row(i))
		return
	}
	for c, v := range p.Single.Row(i) {
		dst[c] = float64(v)
	}
}

// Dist2 returns the squared distance of rows i and j as a sum of squared differences.
// Nothing cancels in this sum: its relative error is at most (d+2) 2^-53.
func (p *Points) Dist2(i, j int) float64 {
	if p.Double.Data != nil {
		return Dist2(p.Double.Row(i), p.Double.Row(j))
	}
	return Dist2(p.Single.Row(i), p.Single.Row(j))
}
