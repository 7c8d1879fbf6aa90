package codes

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

const (
	// A group is split into parts of about half of leafPoints points, and into at most
	// mostParts at a time.
	mostParts = 16
	// Centres of parts are sought among so many points each.
	pointsPerPart = 24
	partSteps     = 4
)

// arrange orders points so that those next to each other are near. It returns the
// order and the ends of groups of points that are, or nothing where there is but one
// such group. Groups of points nearer to a leader than to others come first (leaders);
// those with many points are split by k-means of their codes, again and again.
//
// All is done with integers, or with floats that stand for integers: the order is the
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

type arrangement struct {
	c            *codes
	k            *simd.Kernels
	entries      int // of a code that are looked at
	order, spare []uint32
	part         []uint8 // of the point at each place
	groups       []group
	open         []int // groups to be split
	scratches    []*arrangeScratch
}

// arrangeScratch is the scratch memory of a worker.
type arrangeScratch struct {
	rows, centres []float32
	products      []float32
	half          [mostParts]float32
	norm          [mostParts * pointsPerPart]float32
	distance      [mostParts * pointsPerPart]float32
	sums          []int64
	sizes         [mostParts]int64
}

const arrangeRows = 256 // compared with centres at a time

func (a *arrangement) scratch(worker int) *arrangeScratch {
	if a.scratches[worker] == nil {
		a.scratches[worker] = &arrangeScratch{
			rows: make([]float32, max(arrangeRows, mostParts*pointsPerPart)*a.entries), centres: make([]float32, mostParts*a.entries),
			products: make([]float32, max(arrangeRows, mostParts*pointsPerPart)*mostParts), sums: make([]int64, mostParts*a.entries),
		}
	}
	return a.scratches[worker]
}

func arrangeScratchBytes(depth int) int64 {
	const rows = mostParts * pointsPerPart
	return int64(min(depth, exactEntries))*(4*rows+4*mostParts+8*mostParts) + 4*rows*mostParts + 8*rows + 1024
}

// split splits the open groups.
func (a *arrangement) split(ctx context.Context, workers *par.Workers) ([]group, error) {
	centres := make([][]float32, len(a.open))
	if err := workers.Do(ctx, len(a.open), par.Func(func(worker, at int) {
		centres[at] = a.seek(a.scratch(worker), a.groups[a.open[at]])
	})); err != nil {
		return nil, err
	}
	// Pieces of rows of all groups.
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

// load copies codes of points from place lo on, every step-th, to the scratch.
func (a *arrangement) load(scratch *arrangeScratch, lo, count, step int) {
	for i := range count {
		to := scratch.rows[i*a.entries:][:a.entries]
		for t, v := range a.c.row(int(a.order[lo+i*step]))[:len(to)] {
			to[t] = float32(v)
		}
	}
}

// seek returns centres for a group, by some steps of Lloyd from points of the group.
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
			if size := scratch.sizes[p]; size > 0 { // else it stays
				for t, v := range scratch.sums[p*a.entries:][:a.entries] {
					scratch.centres[p*a.entries+t] = float32(math.RoundToEven(float64(v) / float64(size)))
				}
			}
		}
	}
	return append([]float32(nil), scratch.centres[:parts*a.entries]...)
}

// scatter chooses centres from the rows in the scratch, one after the other: each is the
// row that is farthest from those before it, of a few that are drawn. That finds
// clusters as k-means++ does, and rows that lie apart from all others less often than
// the farthest of all would.
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

// nearest finds the nearest centre for the rows in the scratch, of the lowest number
// among equals: that with the least |c|^2/2 - q.c.
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
			// Integers and halves below 2^24: exact, but for halves beyond 2^23, which
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
			// A part that is the whole, of points that are the same to their codes, say,
			// would be split for ever.
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
