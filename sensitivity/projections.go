package sensitivity

import (
	"cmp"
	"math"
	"slices"
)

// H_s is the largest sum over j != s of |e.(q_j - q_s)| over unit vectors e.
//
// In one dimension it is the sum of the distances. In two, choose signs so that
// every z_j = q_j - q_s points into the upper half plane, and sort by angle.
// For a given e the sum is |sum_j sign(e.z_j) z_j . e|, and the maximum over e is
// the longest vector sum_j +-z_j whose signs belong to some e: the signs have one
// value up to a place in the order of angles and the other after it, because the
// line orthogonal to e divides the half plane once. So
//
//	H_s = max over t of |2 (z_1 + .. + z_t) - (z_1 + .. + z_n)|,
//
// in O(n log n). Two vectors whose angles round to the same number, or to the
// wrong order, change a sum by rounding errors only. In more dimensions H_s is
// not computed: min(sum of distances, sqrt(n) |Z_s|_2) bounds it, the second by
// Cauchy and Schwarz.

// planar is the scratch memory of exactPlanar, reused between rows.
type planar struct {
	z, sorted []planarVector
	ends      []int // of the parts into which sort divides angles
}

type planarVector struct{ angle, x, y float64 }

// exactPlanar returns H_s for two columns, from above.
func (p *planar) exactPlanar(g *geometry, s int) float64 {
	qx, qy := g.centred[2*s], g.centred[2*s+1]
	p.z = p.z[:0]
	var sx, sy accumulator
	for j := range g.rows {
		x, y := g.centred[2*j]-qx, g.centred[2*j+1]-qy
		if x == 0 && y == 0 {
			continue // the row itself, and rows equal to it
		}
		if y < 0 { // to the angles 0 to pi; both ends are the same line
			x, y = -x, -y
		}
		p.z = append(p.z, planarVector{angleKey(x, y), x, y})
		sx.add(x)
		sy.add(y)
	}
	p.sort()
	tx, ty := sx.sum(), sy.sum()
	best := 0.0 // t = 0 and t = n give the same length
	var ax, ay accumulator
	for _, z := range p.sorted {
		ax.add(z.x)
		ay.add(z.y)
		dx, dy := 2*ax.sum()-tx, 2*ay.sum()-ty
		best = max(best, dx*dx+dy*dy)
	}
	return math.Sqrt(best) + 2*float64(g.rows)*g.errorOf(1)
}

// sort leaves the vectors in the order of their angles in sorted. Angles are from 0 to 4
// and mostly spread out: vectors go to parts of that range, about as many as there are
// vectors, and each part is sorted.
func (p *planar) sort() {
	parts := min(len(p.z), 1<<20) + 1
	part := func(z planarVector) int { return int(z.angle / 4 * float64(parts-1)) }
	p.ends = slices.Grow(p.ends[:0], parts+1)[:parts+1]
	clear(p.ends)
	for _, z := range p.z {
		p.ends[part(z)+1]++
	}
	for i := 1; i <= parts; i++ {
		p.ends[i] += p.ends[i-1]
	}
	p.sorted = slices.Grow(p.sorted[:0], len(p.z))[:len(p.z)]
	for _, z := range p.z { // ends begin as the starts of the parts
		i := part(z)
		p.sorted[p.ends[i]] = z
		p.ends[i]++
	}
	from := 0
	for _, to := range p.ends[:parts] {
		slices.SortFunc(p.sorted[from:to], func(a, b planarVector) int { return cmp.Compare(a.angle, b.angle) })
		from = to
	}
}

// angleKey grows with the angle of a vector in the upper half plane, from 0 on
// the positive x axis towards 4, without a transcendental function.
func angleKey(x, y float64) float64 {
	if x >= 0 {
		if y <= x {
			return y / x
		}
		return 2 - x/y
	}
	if y >= -x {
		return 2 - x/y
	}
	return 4 + y/x
}

// distances returns the sum and the largest of |q_j - q_s|, from above.
func (g *geometry) distances(s int) (sum, largest float64) {
	q := g.row(s)
	var total accumulator
	for j := range g.rows {
		d2 := 0.0
		for c, v := range g.row(j) {
			d := v - q[c]
			d2 += d * d
		}
		d := math.Sqrt(d2)
		total.add(d)
		largest = max(largest, d)
	}
	slack := 2 * g.errorOf(1)
	return total.sum() + float64(g.rows)*slack, largest + slack
}
