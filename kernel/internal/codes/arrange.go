package codes

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

const (
	// A group is split into parts of about half of leafPoints points, and into at most
	// mostParts parts at a time.
	mostParts = 16
	// The centres of the parts of a group are sought among pointsPerPart of its points for
	// each part, in partSteps steps.
	pointsPerPart = 24
	partSteps     = 4
)

// arrange orders points so that points next to each other are near to each other. It
// returns the order and the ends of groups of near points; nil when there is but one
// group. First each leader makes a group of the points that are nearer to it than to other
// leaders. Then groups with many points are split by k-means of their codes, again and
// again.
//
// arrange computes with integers, or with floats that stand for integers: the order is the
// same at every level of the kernels.
func arrange(ctx context.Context, c *codes, radius float64, req *rows.Request) (order []uint32, ends []int, err error) {
	n := len(c.norm2)
	l := findLeaders(c, leaderReach*radius/c.unit, req.Kernels)
	if l.count == 1 {
		return nil, nil, nil
	}
	a := &arrangement{c: c, k: req.Kernels, entries: min(c.depth, exactEntries), part: make([]uint8, n), spare: make([]uint32, n)}
	var groups []group
	if l.count > mostLeaders {
		a.order = make([]uint32, n)
		for i := range a.order {
			a.order[i] = uint32(i)
		}
		groups = []group{{0, n, n <= leafPoints}}
	} else if a.order, groups, err = l.assign(ctx, c, req); err != nil {
		return nil, nil, err
	}
	a.scratches = make([]*arrangeScratch, req.Workers.Count())
	for {
		var open []int
		for g := range groups {
			if !groups[g].done {
				open = append(open, g)
			}
		}
		if len(open) == 0 {
			break
		}
		a.groups, a.open = groups, open
		if groups, err = a.split(ctx, req.Workers); err != nil {
			return nil, nil, err
		}
	}
	for _, g := range groups {
		ends = append(ends, g.hi)
	}
	return a.order, ends, nil
}

// An arrangement is an order of points in the making.
type arrangement struct {
	c         *codes
	k         *simd.Kernels
	entries   int      // how many entries of a code are looked at
	order     []uint32 // point at each place
	spare     []uint32 // memory for another order
	part      []uint8  // part of the point at each place
	groups    []group
	open      []int             // groups to be split
	scratches []*arrangeScratch // nil for workers that have done nothing yet
}

// arrangeScratch is the scratch memory of a worker.
type arrangeScratch struct {
	rows     []float32                          // codes of some points of a group
	centres  []float32                          // of the parts of the group
	products []float32                          // of rows with centres
	half     [mostParts]float32                 // half the squared norm of each centre
	norm     [mostParts * pointsPerPart]float32 // squared norm of each row
	distance [mostParts * pointsPerPart]float32 // squared distance of each row from the nearest centre
	sums     []int64                            // of the rows of each part
	sizes    [mostParts]int64                   // number of rows of each part
}

// arrangeRows is how many rows are compared with centres at a time.
const arrangeRows = 256

// scratch returns the scratch memory of a worker.
func (a *arrangement) scratch(worker int) *arrangeScratch {
	if a.scratches[worker] == nil {
		a.scratches[worker] = &arrangeScratch{
			rows: make([]float32, max(arrangeRows, mostParts*pointsPerPart)*a.entries), centres: make([]float32, mostParts*a.entries),
			products: make([]float32, max(arrangeRows, mostParts*pointsPerPart)*mostParts), sums: make([]int64, mostParts*a.entries),
		}
	}
	return a.scratches[worker]
}

// arrangeScratchBytes is the bytes of an arrangeScratch.
func arrangeScratchBytes(depth int) int64 {
	const rows = mostParts * pointsPerPart
	return int64(min(depth, exactEntries))*(4*rows+4*mostParts+8*mostParts) + 4*rows*mostParts + 8*rows + 1024
}

// split splits the open groups and returns all groups then.
func (a *arrangement) split(ctx context.Context, workers *par.Workers) ([]group, error) {
	centres := make([][]float32, len(a.open))
	if err := workers.Do(ctx, len(a.open), par.Func(func(worker, at int) {
		centres[at] = a.seek(a.scratch(worker), a.groups[a.open[at]])
	})); err != nil {
		return nil, err
	}
	// A piece is some rows of the open group at.
	type piece struct{ at, lo, hi int }
	var pieces []piece
	for at, g := range a.open {
		for lo := a.groups[g].lo; lo < a.groups[g].hi; lo += arrangeRows {
			pieces = append(pieces, piece{at, lo, min(lo+arrangeRows, a.groups[g].hi)})
		}
	}
	if err := workers.Do(ctx, len(pieces), par.Func(func(worker, b int) {
		scratch, piece := a.scratch(worker), pieces[b]
		copy(scratch.centres, centres[piece.at])
		parts := len(centres[piece.at]) / a.entries
		a.load(scratch, piece.lo, piece.hi-piece.lo, 1)
		a.nearest(scratch, a.part[piece.lo:piece.hi], parts)
	})); err != nil {
		return nil, err
	}
	made := make([][]group, len(a.open))
	if err := workers.Do(ctx, len(a.open), par.Func(func(_, at int) {
		made[at] = a.sort(a.groups[a.open[at]])
	})); err != nil {
		return nil, err
	}
	var out []group
	next := 0
	for g := range a.groups {
		if a.groups[g].done {
			out = append(out, a.groups[g])
		} else {
			out = append(out, made[next]...)
			next++
		}
	}
	return out, nil
}

// load copies the codes of count points, every step-th from place lo on, to the rows of
// scratch.
func (a *arrangement) load(scratch *arrangeScratch, lo, count, step int) {
	for i := range count {
		to := scratch.rows[i*a.entries:][:a.entries]
		for t, v := range a.c.row(int(a.order[lo+i*step]))[:len(to)] {
			to[t] = float32(v)
		}
	}
}

// seek returns the centres of the parts of a group. They begin as points of the group and
// move by partSteps steps of Lloyd.
func (a *arrangement) seek(scratch *arrangeScratch, g group) []float32 {
	size := g.hi - g.lo
	parts := min(mostParts, (2*size+leafPoints-1)/leafPoints)
	count := min(size, parts*pointsPerPart)
	a.load(scratch, g.lo, count, size/count)
	a.scatter(scratch, count, parts)
	part := make([]uint8, count)
	for range partSteps {
		a.nearest(scratch, part, parts)
		clear(scratch.sums)
		clear(scratch.sizes[:])
		for i, p := range part {
			sums := scratch.sums[int(p)*a.entries:][:a.entries]
			for t, v := range scratch.rows[i*a.entries:][:a.entries] {
				sums[t] += int64(v)
			}
			scratch.sizes[p]++
		}
		for p := range parts {
			if size := scratch.sizes[p]; size > 0 { // the centre of an empty part stays
				for t, v := range scratch.sums[p*a.entries:][:a.entries] {
					scratch.centres[p*a.entries+t] = float32(math.RoundToEven(float64(v) / float64(size)))
				}
			}
		}
	}
	return append([]float32(nil), scratch.centres[:parts*a.entries]...)
}

// scatter chooses centres from the rows of scratch, one after the other. Each centre is,
// of a few rows that are drawn, the row farthest from the centres before. That finds
// groups as k-means++ does. It finds rows that lie apart from all others less often than
// the farthest of all rows would.
func (a *arrangement) scatter(scratch *arrangeScratch, count, parts int) {
	const drawn = 8
	words := random.NewSplitMix64(uint64(count))
	distance := scratch.distance[:count]
	norm := func(row []float32) (sum float32) {
		for _, v := range row {
			sum += v * v
		}
		return sum
	}
	for i := range distance {
		distance[i] = float32(math.Inf(1))
		scratch.norm[i] = norm(scratch.rows[i*a.entries:][:a.entries])
	}
	for p := range parts {
		best := int(words.Uint64() % uint64(count))
		for range drawn {
			if i := int(words.Uint64() % uint64(count)); distance[i] > distance[best] {
				best = i
			}
		}
		centre := scratch.centres[p*a.entries:][:a.entries]
		copy(centre, scratch.rows[best*a.entries:])
		a.k.Dots(simd.RowsOf(scratch.products, 1), simd.RowsOf(scratch.rows, a.entries), simd.RowsOf(centre, a.entries), count, 1, a.entries)
		for i, v := range scratch.products[:count] {
			distance[i] = min(distance[i], scratch.norm[i]-2*v+scratch.norm[best])
		}
	}
}

// nearest finds the nearest centre c of each row q of scratch, of the lowest number among
// equals: the centre with the least |c|^2/2 - q.c.
func (a *arrangement) nearest(scratch *arrangeScratch, part []uint8, parts int) {
	for p := range parts {
		sum := float32(0)
		for _, v := range scratch.centres[p*a.entries:][:a.entries] {
			sum += v * v
		}
		scratch.half[p] = sum / 2
	}
	a.k.Dots(simd.RowsOf(scratch.products, mostParts), simd.RowsOf(scratch.rows, a.entries), simd.RowsOf(scratch.centres, a.entries), len(part), parts, a.entries)
	for i := range part {
		best, least := 0, float32(math.Inf(1))
		for p, v := range scratch.products[i*mostParts:][:parts] {
			// Integers and halves below 2^24 are exact, but for halves beyond 2^23, which
			// are rounded the same way everywhere.
			if s := scratch.half[p] - v; s < least {
				best, least = p, s
			}
		}
		part[i] = uint8(best)
	}
}

// sort brings the points of each part of a group together, in the order they had.
func (a *arrangement) sort(g group) (made []group) {
	var next [mostParts + 1]int
	for _, p := range a.part[g.lo:g.hi] {
		next[p+1]++
	}
	for p := range mostParts {
		size := next[p+1]
		next[p+1] += next[p]
		if size > 0 {
			// A part that is the whole group would be split for ever. Points whose codes are
			// equal, for example, make such a part.
			lo := g.lo + next[p]
			made = append(made, group{lo, lo + size, size <= leafPoints || size == g.hi-g.lo})
		}
	}
	copy(a.spare[g.lo:g.hi], a.order[g.lo:g.hi])
	for i, p := range a.part[g.lo:g.hi] {
		a.order[g.lo+next[p]] = a.spare[g.lo+i]
		next[p]++
	}
	return made
}
