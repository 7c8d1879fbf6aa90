package kernel

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/par"
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
func takeSurvey(ctx context.Context, n, d int, row func(i int) []float32, radius float64, o *Options) (*survey, error) {
	s := &survey{rows: spread(min(n, surveyRows), n)}
	sums := make([]float64, d)
	for _, i := range s.rows {
		for c, v := range row(i) {
			sums[c] += float64(v)
		}
	}
	centre := make([]float32, d)
	for c, sum := range sums {
		centre[c] = float32(sum / float64(len(s.rows)))
	}
	sampled := func(i int) []float32 { return row(s.rows[i]) }
	radius2 := radiusSquared(radius)
	best := math.Inf(1)
	try := func(p *projection) (cost float64, err error) {
		if err := p.fit(ctx, sampled, len(s.rows), o); err != nil {
			return 0, err
		}
		_, near, found, err := p.sample(ctx, sampled, len(s.rows), radius, radius2, o)
		filter := float64(p.depth/64) * filterSeconds
		cost = filter + near*(checkSeconds+checkSecondsBy*float64(d))
		if cost < best {
			best, s.projection, s.near, s.found = cost, p, near, found
		}
		return cost, err
	}
	full := coordinates(centre)
	whole := float64(n) * float64(n) / 2 * float64(full.depth/64) * filterSeconds
	if full.depth == 64 || whole < directionSeconds || d > mostDirected {
		_, err := try(full)
		return s, err
	}
	u := mat.NewDense(min(len(s.rows), directionRows), d, nil)
	norms := make([]float64, u.RawMatrix().Rows)
	for i := range norms {
		to := u.RawRowView(i)
		for c, v := range sampled(i * len(s.rows) / len(norms)) {
			to[c] = float64(v) - float64(centre[c])
		}
		norms[i] = mat.Norm(u.RowView(i), 2)
	}
	size := 1.25 * positive(quantile(norms, 0.99), slices.Max(norms))
	points := newCovariance(u, size, o.Kernels, o.Workers)
	for depth := 64; depth <= 256 && depth < full.depth; depth *= 2 {
		basis, err := points.principal(ctx, depth-1)
		if err != nil {
			return nil, err
		}
		cost, err := try(along(centre, basis, depth, size))
		if err != nil {
			return nil, err
		}
		filter := float64(depth/64) * filterSeconds
		if cost < 2*filter {
			return s, nil // twice as deep costs more whatever it leaves
		}
		if s.near > 0.5 && depth == 64 {
			break // nothing but all coordinates will do
		}
	}
	if float64(full.depth/64)*filterSeconds < best {
		if _, err := try(full); err != nil {
			return nil, err
		}
	}
	return s, nil
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

// blocks calls a function for blocks of projectionRows of n points, with room.
func (p *projection) blocks(ctx context.Context, n int, o *Options, do func(room *projectRoom, lo, hi int)) error {
	rooms := make([]*projectRoom, o.Workers.Workers())
	return o.Workers.Do(ctx, par.Blocks(n, projectionRows), par.Func(func(worker, block int) {
		if rooms[worker] == nil {
			rooms[worker] = newProjectRoom(p)
		}
		lo, hi := par.Block(block, n, projectionRows)
		do(rooms[worker], lo, hi)
	}))
}

// fit sets the middle of the rests and the unit of the codes for a sample.
func (p *projection) fit(ctx context.Context, row func(i int) []float32, n int, o *Options) error {
	width := p.width()
	largest, rests := make([]float64, n), make([]float64, n)
	if err := p.blocks(ctx, n, o, func(room *projectRoom, lo, hi int) {
		p.project(room, o.Kernels, func(i int) []float32 { return row(lo + i) }, hi-lo)
		for i := range hi - lo {
			z := room.z[i*p.depth:][:width]
			if p.rest() {
				rests[lo+i] = z[p.kept]
			}
			for _, v := range z[:p.kept] {
				largest[lo+i] = max(largest[lo+i], math.Abs(v))
			}
		}
	}); err != nil {
		return err
	}
	low, high := quantile(rests, 0.01), quantile(rests, 0.99)
	p.middle = low + (high-low)/2
	p.unit = positive(max(quantile(largest, 0.99), (high-low)/2), slices.Max(largest)) / 127
	return nil
}

// sample returns the codes of a sample, the share of pairs they leave, and the share
// of those within the radius.
func (p *projection) sample(ctx context.Context, row func(i int) []float32, n int, radius, radius2 float64, o *Options) (c *codes, near, found float64, err error) {
	if c, err = p.encode(ctx, row, n, o); err != nil {
		return nil, 0, 0, err
	}
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
		o.Kernels.Above8(mask, c.row(i), panel, p.depth, bias, threshold)
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
	return c, near / pairs, found / pairs, nil
}

// encode returns the codes of n points.
func (p *projection) encode(ctx context.Context, row func(i int) []float32, n int, o *Options) (*codes, error) {
	c, width := newCodes(n, p.depth, p.unit), p.width()
	err := p.blocks(ctx, n, o, func(room *projectRoom, lo, hi int) {
		p.project(room, o.Kernels, func(i int) []float32 { return row(lo + i) }, hi-lo)
		for i := range hi - lo {
			c.set(lo+i, room.z[i*p.depth:][:width], room.lost[i])
		}
	})
	c.widest = slices.Max(c.slack)
	return c, err
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
