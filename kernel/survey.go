package kernel

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A survey is what a sample of points says about a search among all of them: which
// projection costs least, and what will be found.
type survey struct {
	projection *projection
	rows       []int   // of the sample, of the points that take part
	near       float64 // share of pairs that the codes leave
	found      float64 // share of pairs within the radius
}

const (
	// surveyRows are projected, and surveyQueries of them are searched for among them.
	surveyRows, surveyQueries = 1024, 256
	// What a pair costs: 64 places of a product of codes, as AVX512VNNI has it, and
	// for those that are left a distance. The choice must not depend on the machine:
	// bounds of what is dropped follow from it.
	filterSeconds  = 0.25e-9
	checkSeconds   = 15e-9
	checkSecondsBy = 0.06e-9 // and dimension
	// What directions must be able to save to be worth looking for.
	directionSeconds = 20e-3
)

// takeSurvey samples n points.
func takeSurvey(n, d int, row func(i int) []float32, radius float64, k *Kernels) *survey {
	s := &survey{rows: spread(min(n, surveyRows), n)}
	centre := make([]float64, d)
	for _, i := range s.rows {
		for c, v := range row(i) {
			centre[c] += float64(v)
		}
	}
	for c := range centre {
		centre[c] /= float64(len(s.rows))
	}
	sampled := func(i int) []float32 { return row(s.rows[i]) }
	radius2 := radiusSquared(radius)
	best := math.Inf(1)
	try := func(p *projection) (cost float64) {
		p.fit(sampled, len(s.rows), k)
		_, near, found := p.sample(sampled, len(s.rows), radius, radius2, k)
		filter := float64(p.depth/64) * filterSeconds
		cost = filter + near*(checkSeconds+checkSecondsBy*float64(d))
		if cost < best {
			best, s.projection, s.near, s.found = cost, p, near, found
		}
		return cost
	}
	full := coordinates(centre)
	if whole := float64(n) * float64(n) / 2 * float64(full.depth/64) * filterSeconds; full.depth == 64 || whole < directionSeconds {
		try(full)
		return s
	}
	u := mat.NewDense(len(s.rows), d, nil)
	largest := make([]float64, len(s.rows))
	for i := range s.rows {
		to := u.RawRowView(i)
		for c, v := range sampled(i) {
			to[c] = float64(v) - centre[c]
			largest[i] = max(largest[i], math.Abs(to[c]))
		}
	}
	grid := positive(4*quantile(largest, 0.5), slices.Max(largest)) / mostGrid
	half := mat.DenseCopyOf(u.Slice(0, min(len(s.rows), surveyRows/2), 0, d))
	for depth := 64; depth <= 256 && depth < full.depth; depth *= 2 {
		cost := try(along(centre, principalDirections(half, depth-1), depth, grid))
		filter := float64(depth/64) * filterSeconds
		if cost < 2*filter {
			return s // twice as deep costs more whatever it leaves
		}
		if s.near > 0.5 && depth == 64 {
			break // nothing but all coordinates will do
		}
	}
	if float64(full.depth/64)*filterSeconds < best {
		try(full)
	}
	return s
}

// spread returns count numbers below n, ascending but for none that come twice: the
// golden ratio spreads any number of them evenly and avoids the periods that data in
// some order may have.
func spread(count, n int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = i
		if count < n {
			_, fraction := math.Modf(float64(i) * (math.Sqrt(5) - 1) / 2)
			out[i] = int(fraction * float64(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fit sets the middle of the rests and the unit of the codes for a sample.
func (p *projection) fit(row func(i int) []float32, n int, k *Kernels) {
	room, width := newProjectRoom(p), p.width()
	largest, rests := make([]float64, n), make([]float64, n)
	for lo := 0; lo < n; lo += projectionRows {
		count := min(projectionRows, n-lo)
		p.project(room, k, func(i int) []float32 { return row(lo + i) }, count)
		for i := range count {
			z := room.z[i*p.depth:][:width]
			if p.rest() {
				rests[lo+i] = z[p.kept]
			}
			for _, v := range z[:p.kept] {
				largest[lo+i] = max(largest[lo+i], math.Abs(v))
			}
		}
	}
	low, high := quantile(rests, 0.01), quantile(rests, 0.99)
	p.middle = low + (high-low)/2
	p.unit = positive(max(quantile(largest, 0.99), (high-low)/2), slices.Max(largest)) / 127
}

// sample returns the codes of a sample, the share of pairs they leave, and the share
// of those within the radius.
func (p *projection) sample(row func(i int) []float32, n int, radius, radius2 float64, k *Kernels) (c *codes, near, found float64) {
	c = newCodes(n, p.depth, p.unit)
	room := newProjectRoom(p)
	for lo := 0; lo < n; lo += projectionRows {
		p.encode(c, room, k, func(i int) []float32 { return row(lo + i) }, lo, min(lo+projectionRows, n))
	}
	c.widest = slices.Max(c.slack)
	queries := min(n, surveyQueries)
	columns := (n + panelColumns - 1) / panelColumns * panelColumns
	r := searchReach(c, radius)
	panel, bias := make([]uint8, columns*p.depth), make([]int32, columns)
	c.panel(panel, 0, n)
	for j := range bias {
		bias[j] = padBias
		if j < n {
			bias[j] = r.bias(c.norm2[j], c.slack[j])
		}
	}
	mask := make([]uint64, columns/64)
	threshold := make([]int32, 1)
	for q := range queries {
		i := q * n / queries
		threshold[0] = r.threshold(c.norm2[i], c.sum[i], bounded(r.radius+c.slack[i]))
		k.Above8(mask, c.row(i), panel, p.depth, bias, threshold)
		for w, word := range mask {
			for ; word != 0; word &= word - 1 {
				j := w*64 + bits.TrailingZeros64(word)
				if j == i {
					continue
				}
				near++
				if dist2(row(i), row(j)) <= radius2 {
					found++
				}
			}
		}
	}
	pairs := float64(queries) * float64(max(n-1, 1))
	return c, near / pairs, found / pairs
}

// encode sets the codes lo to hi-1, of at most projectionRows points.
func (p *projection) encode(c *codes, room *projectRoom, k *Kernels, row func(i int) []float32, lo, hi int) {
	p.project(room, k, row, hi-lo)
	width := p.width()
	for i := range hi - lo {
		c.set(lo+i, room.z[i*p.depth:][:width], room.lost[i])
	}
}

// quantile returns the value that a share of v, or of a sample of it, does not exceed.
func quantile(v []float64, share float64) float64 {
	var sorted []float64
	for _, i := range spread(min(len(v), surveyRows), len(v)) {
		sorted = append(sorted, v[i])
	}
	slices.Sort(sorted)
	return sorted[int(share*float64(len(sorted)-1))]
}

// positive returns the first of two numbers that is, or 1. It is never so small
// that its inverse is infinite.
func positive(a, b float64) float64 {
	switch {
	case a > 1e-200:
		return a
	case b > 1e-200:
		return b
	}
	return 1
}
