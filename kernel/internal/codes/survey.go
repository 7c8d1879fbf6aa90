package codes

import (
	"context"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// A survey is what a sample of points says about a search among all of them: which
// projection costs least, and what will be found.
type survey struct {
	projection *projection
	near       float64 // share of all pairs that its codes leave
	found      float64 // and that are within the radius
}

const (
	// Directions are made of one in directionShare of the sampled points. The other points
	// say what the directions leave: of the points they were made of directions leave less
	// than of others. surveyQueries of the others are compared with all others.
	directionShare = 3
	surveyQueries  = 256
	// What a pair costs: 64 places of a product of codes, as AVX512VNNI has it, and
	// for those that are left a distance. The choice must not depend on the machine:
	// bounds of what is dropped follow from it.
	filterSeconds  = 0.25e-9
	checkSeconds   = 15e-9
	checkSecondsBy = 0.12e-9 // and dimension
	// What directions cost by place and dimension, those for the sample and for every
	// point. They are looked for where they may save directionGain times as much.
	directionSeconds = 600e-9
	projectSeconds   = 0.04e-9
	directionGain    = 2
	// deeperLeaves is the least share that twice as many directions are expected to
	// leave of what the codes left.
	deeperLeaves = 0.25
)

// filterCost is what codes of some depth cost, by pair.
func filterCost(depth int) float64 { return float64(depth/64) * filterSeconds }

// checkCost is what a pair costs that codes leave.
func checkCost(d int) float64 { return checkSeconds + checkSecondsBy*float64(d) }

// takeSurvey samples n points.
func takeSurvey(ctx context.Context, n, d int, row func(i int) []float32, radius float64, req *rows.Request) (*survey, error) {
	s := &survey{}
	var makerRows, otherRows []int
	all := rows.Spread(min(n, mostSampled), n)
	for at, i := range all {
		if at%directionShare == directionShare-1 {
			makerRows = append(makerRows, i)
		} else {
			otherRows = append(otherRows, i)
		}
	}
	centre, err := mean(ctx, row, all, d, req.Workers)
	if err != nil {
		return nil, err
	}
	sampled := func(i int) []float32 { return row(otherRows[i]) }
	best := math.Inf(1)
	try := func(p *projection) (near float64, err error) {
		if err := p.fit(ctx, sampled, len(otherRows), req); err != nil {
			return 0, err
		}
		first := s.projection == nil // no codes lose a pair: the first tell how many there are
		near, found, err := p.sample(ctx, sampled, len(otherRows), radius, first, req)
		if first {
			s.found = found
		}
		if cost := filterCost(p.depth) + near*checkCost(d); cost < best {
			best, s.projection, s.near = cost, p, near
		}
		return near, err
	}
	full := coordinates(centre)
	if _, err := try(full); err != nil || full.depth == 64 || d > mostDirected {
		return s, err
	}
	// What directions of some depth save at most, if they leave a share of pairs or
	// more, and beyond what they cost.
	gain := func(depth int, leave float64) float64 {
		if depth >= full.depth {
			return 0
		}
		saved := (best - filterCost(depth) - max(leave, s.found)*checkCost(d)) * float64(n) * float64(n) / 2
		return saved - directionGain*float64(d)*float64(depth)*(directionSeconds+projectSeconds*float64(n))
	}
	middle := 128 // of the depths that are tried
	if full.depth < 2*middle {
		middle = 64
	}
	if gain(middle, 0) <= 0 {
		return s, nil
	}
	makers, size := newCovariance(row, makerRows, centre, req)
	directed := func(depth int) (near float64, err error) {
		basis, err := makers.principal(ctx, depth-1)
		if err != nil {
			return 0, err
		}
		return try(along(centre, basis, depth, size))
	}
	near, err := directed(middle)
	if err != nil {
		return nil, err
	}
	less, more := gain(middle/2, near), gain(middle*2, deeperLeaves*near)
	switch {
	case less > max(more, 0) && middle > 64:
		_, err = directed(middle / 2)
	case more > 0:
		_, err = directed(middle * 2)
	}
	return s, err
}

// mean returns the mean of some rows. It is summed up in pieces, always the same.
func mean(ctx context.Context, row func(i int) []float32, rows []int, d int, workers *par.Workers) ([]float32, error) {
	const each = 128
	sums := make([][]float64, par.Blocks(len(rows), each))
	err := workers.Do(ctx, len(sums), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, len(rows), each)
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

// sample returns the share of all pairs of a sample that its codes leave, and, if that
// is asked for, the share that is within the radius, or nearly so.
func (p *projection) sample(ctx context.Context, row func(i int) []float32, n int, radius float64, measure bool, req *rows.Request) (near, found float64, err error) {
	c, err := p.encode(ctx, row, n, req)
	if err != nil {
		return 0, 0, err
	}
	queries := min(n, surveyQueries)
	columns := (n + panelColumns - 1) / panelColumns * panelColumns
	r, radius2 := searchReach(c, radius), rows.RadiusSquared(radius)
	panel, bias := make([]uint8, columns*p.depth), make([]int32, columns)
	c.panel(panel, 0, n)
	r.biases(bias, c.norm2, c.slack)
	const together = 32
	var left, within atomic.Int64
	err = req.Workers.Do(ctx, par.Blocks(queries, together), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, queries, together)
		words := columns / 64
		mask, threshold, code := make([]uint64, (hi-lo)*words), make([]int32, hi-lo), make([]int8, (hi-lo)*p.depth)
		for q := lo; q < hi; q++ {
			i := q * n / queries
			threshold[q-lo] = c.threshold(r.reach, i, r.radius)
			copy(code[(q-lo)*p.depth:], c.row(i))
		}
		req.Kernels.ByteDotsAbove(mask, code, panel, p.depth, bias, threshold)
		d2, index := make([]float64, 1), make([]uint32, 1)
		for q := lo; q < hi; q++ {
			i := q * n / queries
			for w, word := range mask[(q-lo)*words:][:words] {
				for ; word != 0; word &= word - 1 {
					j := w*64 + bits.TrailingZeros64(word)
					if j == i {
						continue
					}
					left.Add(1)
					if !measure {
						continue
					}
					y := row(j)
					if req.Kernels.SqDists64(d2, row(i), simd.RowsOf(y, len(y)), index); d2[0] <= radius2 {
						within.Add(1)
					}
				}
			}
		}
	}))
	pairs := float64(queries) * float64(max(n-1, 1))
	return float64(left.Load()) / pairs, float64(within.Load()) / pairs, err
}
