package codes

import (
	"context"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// A survey is what a sample of points says about a search among all of them: which
// projection costs least, and what will be found.
type survey struct {
	projection *projection
	near       float64 // share of all pairs that the codes of the projection leave
	found      float64 // share of all pairs that are within the radius
}

const (
	// Directions are made of one in directionShare of the sampled points. The other points
	// say what the directions leave: of the points they were made of directions leave less
	// than of others. surveyQueries of the others are compared with all others.
	directionShare = 3
	surveyQueries  = 256
	// A pair costs filterSeconds for every 64 entries of a product of codes, with
	// AVX512VNNI. A pair that codes leave costs a distance: checkSeconds, and
	// checkSecondsBy for every dimension. These costs are constants, since the choice of a
	// projection must not depend on the machine: bounds of the weights that are dropped
	// follow from it.
	filterSeconds  = 0.25e-9
	checkSeconds   = 15e-9
	checkSecondsBy = 0.12e-9
	// Directions cost, for every entry of a code and every dimension, directionSeconds to
	// find them in the sample and projectSeconds to project a point. They are looked for
	// where they may save directionGain times as much.
	directionSeconds = 600e-9
	projectSeconds   = 0.04e-9
	directionGain    = 2
	// Twice as many directions are expected to leave at least the share deeperLeaves of the
	// pairs that the codes left.
	deeperLeaves = 0.25
)

// filterCost returns what a pair costs that is compared by codes of some depth, in seconds.
func filterCost(depth int) float64 { return float64(depth/64) * filterSeconds }

// checkCost returns what a pair costs that codes leave in d dimensions, in seconds.
func checkCost(d int) float64 { return checkSeconds + checkSecondsBy*float64(d) }

// takeSurvey takes a survey of n points in d dimensions for a search within a radius.
//
// The projection on coordinates comes first. Projections on directions follow where they
// may save more than they cost: one of a middle depth, and then one of half or of twice
// that depth.
func takeSurvey(ctx context.Context, n, d int, row func(i int) []float32, radius float64, req *rows.Request) (*survey, error) {
	all := rows.Spread(min(n, mostSampled), n)
	makers, others := splitSample(all)
	centre, err := mean(ctx, row, all, d, req.Workers)
	if err != nil {
		return nil, err
	}
	full := coordinates(centre)
	s := &surveyor{
		survey: &survey{}, n: n, d: d, full: full.depth, radius: radius, req: req, best: math.Inf(1),
		row: func(i int) []float32 { return row(others[i]) }, rows: len(others),
	}
	if _, err := s.try(ctx, full); err != nil || full.depth == 64 || d > mostDirected {
		return s.survey, err
	}
	middle := 128 // of the depths that are tried
	if full.depth < 2*middle {
		middle = 64
	}
	if s.gain(middle, 0) <= 0 {
		return s.survey, nil
	}
	c, size := newCovariance(row, makers, centre, req)
	return s.survey, s.tryDirections(middle, func(depth int) (near float64, err error) {
		basis, err := c.principal(ctx, depth-1)
		if err != nil {
			return 0, err
		}
		return s.try(ctx, along(centre, basis, depth, size))
	})
}

// splitSample returns the sampled rows that directions are made of, and the others.
func splitSample(all []int) (makers, others []int) {
	for at, i := range all {
		if at%directionShare == directionShare-1 {
			makers = append(makers, i)
		} else {
			others = append(others, i)
		}
	}
	return makers, others
}

// A surveyor tries projections on a sample of n points in d dimensions, and keeps the
// cheapest in its survey.
type surveyor struct {
	*survey
	n, d   int
	full   int                   // depth of the projection on coordinates
	row    func(i int) []float32 // row i of the sample
	rows   int                   // number of rows of the sample
	radius float64
	req    *rows.Request
	best   float64 // what a pair costs with the projection of the survey; +Inf before the first
}

// try fits a projection to the sample and keeps it if it is the cheapest so far. It
// returns the share of pairs that its codes leave.
func (s *surveyor) try(ctx context.Context, p *projection) (near float64, err error) {
	if err := p.fit(ctx, s.row, s.rows, s.req); err != nil {
		return 0, err
	}
	first := s.projection == nil // no codes lose a pair: the first say how many are within the radius
	near, found, err := p.sample(ctx, s.row, s.rows, s.radius, first, s.req)
	if first {
		s.found = found
	}
	if cost := filterCost(p.depth) + near*checkCost(s.d); cost < s.best {
		s.best, s.projection, s.near = cost, p, near
	}
	return near, err
}

// gain returns what directions of some depth save in a whole search, beyond what they
// cost, if their codes leave the given share of pairs, and not less than is found.
func (s *surveyor) gain(depth int, leave float64) float64 {
	if depth >= s.full {
		return 0
	}
	saved := (s.best - filterCost(depth) - max(leave, s.found)*checkCost(s.d)) * float64(s.n) * float64(s.n) / 2
	return saved - directionGain*float64(s.d)*float64(depth)*(directionSeconds+projectSeconds*float64(s.n))
}

// tryDirections tries directions of the middle depth and then, if they may gain, of half
// or of twice that depth. directed tries directions of a depth.
func (s *surveyor) tryDirections(middle int, directed func(depth int) (near float64, err error)) error {
	near, err := directed(middle)
	if err != nil {
		return err
	}
	less, more := s.gain(middle/2, near), s.gain(middle*2, deeperLeaves*near)
	switch {
	case less > max(more, 0) && middle > 64:
		_, err = directed(middle / 2)
	case more > 0:
		_, err = directed(middle * 2)
	}
	return err
}

// mean returns the mean of some rows of d numbers. They are summed up in pieces that do
// not depend on the number of workers.
func mean(ctx context.Context, row func(i int) []float32, rows []int, d int, workers *par.Workers) ([]float32, error) {
	const each = 128
	sums := make([][]float64, split.Blocks(len(rows), each))
	err := workers.Do(ctx, len(sums), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, len(rows), each)
		sum := make([]float64, d)
		for _, i := range rows[lo:hi] {
			for c, v := range row(i) {
				sum[c] += float64(v)
			}
		}
		sums[piece] = sum
	}))
	if err != nil {
		return nil, err
	}
	out := make([]float32, d)
	for c := range out {
		total := 0.0
		for _, sum := range sums {
			total += sum[c]
		}
		out[c] = float32(total / float64(len(rows)))
	}
	return out, nil
}

// sample returns the share of all pairs of n points that the codes of the projection
// leave. With measure it also returns the share that is within the radius, up to the
// rounding of distances; without, 0.
func (p *projection) sample(ctx context.Context, row func(i int) []float32, n int, radius float64, measure bool, req *rows.Request) (near, found float64, err error) {
	c, err := p.encode(ctx, row, n, req)
	if err != nil {
		return 0, 0, err
	}
	columns := (n + panelColumns - 1) / panelColumns * panelColumns
	t := &trial{
		c: c, row: row, n: n, queries: min(n, surveyQueries), reach: searchReach(c, radius), radius2: rows.RadiusSquared(radius), measure: measure,
		panel: make([]uint8, columns*p.depth), bias: make([]int32, columns), kernels: req.Kernels,
	}
	if measure {
		t.scratches = make([]*productScratch, req.Workers.Count())
		if t.products, err = newProducts(ctx, row, n, p.centre, req); err != nil {
			return 0, 0, err
		}
	}
	c.panel(t.panel, 0, n)
	t.reach.biases(t.bias, c.norm2, c.slack)
	err = req.Workers.Do(ctx, split.Blocks(t.queries, trialQueries), t)
	pairs := float64(t.queries) * float64(max(n-1, 1))
	return float64(t.left.Load()) / pairs, float64(t.within.Load()) / pairs, err
}

// A trial compares some of n points, the queries, with all of them by their codes.
type trial struct {
	c            *codes
	row          func(i int) []float32
	n, queries   int
	reach        codeReach
	radius2      float64
	measure      bool              // whether the pairs that codes leave are within the radius
	products     *products         // nil where they do not help
	scratches    []*productScratch // nil for workers that have decided nothing yet
	panel        []uint8           // the codes of all points, as columns
	bias         []int32           // of the columns
	kernels      *simd.Kernels
	left, within atomic.Int64 // pairs that codes leave, and pairs within the radius
}

// trialQueries is how many queries are compared at a time.
const trialQueries = 32

// Run compares the queries of one piece.
func (t *trial) Run(worker, piece int) {
	c, words := t.c, len(t.bias)/64
	lo, hi := split.Block(piece, t.queries, trialQueries)
	mask, threshold, code := make([]uint64, (hi-lo)*words), make([]int32, hi-lo), make([]int8, (hi-lo)*c.depth)
	for q := lo; q < hi; q++ {
		i := q * t.n / t.queries
		threshold[q-lo] = c.threshold(t.reach.reach, i, t.reach.radius)
		copy(code[(q-lo)*c.depth:], c.row(i))
	}
	t.kernels.ByteDotsAbove(mask, code, t.panel, c.depth, t.bias, threshold)
	for q := lo; q < hi; q++ {
		i := q * t.n / t.queries
		mask[(q-lo)*words+i/64] &^= 1 << (i % 64) // the query itself
	}
	left := 0
	for _, word := range mask {
		left += bits.OnesCount64(word)
	}
	t.left.Add(int64(left))
	if !t.measure {
		return
	}
	if t.products != nil && float64(left) >= productShare*float64((hi-lo)*t.n) {
		t.decide(worker, lo, hi, mask)
	}
	for q := lo; q < hi; q++ {
		t.count(q*t.n/t.queries, mask[(q-lo)*words:][:words])
	}
}

// decide counts the pairs in the mask of the queries lo to hi-1 of which products tell whether
// they are within the radius, and takes them out of the mask.
func (t *trial) decide(worker, lo, hi int, mask []uint64) {
	p, words := t.products, len(t.bias)/64
	if t.scratches[worker] == nil {
		t.scratches[worker] = p.scratch()
	}
	scratch := t.scratches[worker]
	for q := lo; q < hi; q++ {
		p.load(scratch.left, q-lo, q*t.n/t.queries)
	}
	within := 0
	p.multiply(scratch, hi-lo, 0, t.n, func(products []float32, width, from, to int) {
		for q := range hi - lo {
			norm := p.norm[(lo+q)*t.n/t.queries]
			for j := from; j < to; j++ {
				word, bit := &mask[q*words+j/64], uint64(1)<<(j%64)
				if *word&bit == 0 {
					continue
				}
				switch low, high := p.bounds(norm, p.norm[j], products[q*width+j-from]); {
				case high*(1+0x1p-30) < t.radius2:
					within++
				case low*(1-0x1p-30) <= t.radius2:
					continue
				}
				*word &^= bit
			}
		}
	})
	t.within.Add(int64(within))
}

// count counts the points in the mask of point i that are within the radius.
func (t *trial) count(i int, mask []uint64) {
	d2, index := make([]float64, 1), make([]uint32, 1)
	within := 0
	for w, word := range mask {
		for ; word != 0; word &= word - 1 {
			y := t.row(w*64 + bits.TrailingZeros64(word))
			if t.kernels.SqDists64(d2, t.row(i), simd.RowsOf(y, len(y)), index); d2[0] <= t.radius2 {
				within++
			}
		}
	}
	t.within.Add(int64(within))
}
