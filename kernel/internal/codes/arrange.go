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
	// A group of more points is split, into parts of half as many or so, and into
	// mostParts at a time.
	leafPoints = 96
	mostParts  = 16
	// Centres of parts are sought among so many points each.
	pointsPerPart = 24
	partSteps     = 4
	// Sums of so many products of entries of codes are exact in float32.
	exactPlaces = 1024
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
	a := &arrangement{c: c, k: req.Kernels, places: min(c.depth, exactPlaces), part: make([]uint8, n), spare: make([]uint32, n)}
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
	a.rooms = make([]*arrangeScratch, req.Workers.Count())
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

// group is the points at places lo to hi-1.
type group struct {
	lo, hi int
	done   bool
}

type arrangement struct {
	c            *codes
	k            *simd.Kernels
	places       int // of a code that are looked at
	order, spare []uint32
	part         []uint8 // of the point at each place
	groups       []group
	open         []int // groups to be split
	rooms        []*arrangeScratch
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

func (a *arrangement) room(worker int) *arrangeScratch {
	if a.rooms[worker] == nil {
		a.rooms[worker] = &arrangeScratch{
			rows: make([]float32, max(arrangeRows, mostParts*pointsPerPart)*a.places), centres: make([]float32, mostParts*a.places),
			products: make([]float32, max(arrangeRows, mostParts*pointsPerPart)*mostParts), sums: make([]int64, mostParts*a.places),
		}
	}
	return a.rooms[worker]
}

func arrangeScratchBytes(depth int) int64 {
	const rows = mostParts * pointsPerPart
	return int64(min(depth, exactPlaces))*(4*rows+4*mostParts+8*mostParts) + 4*rows*mostParts + 8*rows + 1024
}

// split splits the open groups.
func (a *arrangement) split(ctx context.Context, workers *par.Workers) ([]group, error) {
	centres := make([][]float32, len(a.open))
	if err := workers.Do(ctx, len(a.open), par.Func(func(worker, at int) {
		centres[at] = a.seek(a.room(worker), a.groups[a.open[at]])
	})); err != nil {
		return nil, err
	}
	// Blocks of rows of all groups.
	type block struct{ at, lo, hi int }
	var blocks []block
	for at, g := range a.open {
		for lo := a.groups[g].lo; lo < a.groups[g].hi; lo += arrangeRows {
			blocks = append(blocks, block{at, lo, min(lo+arrangeRows, a.groups[g].hi)})
		}
	}
	if err := workers.Do(ctx, len(blocks), par.Func(func(worker, b int) {
		room, block := a.room(worker), blocks[b]
		copy(room.centres, centres[block.at])
		parts := len(centres[block.at]) / a.places
		a.load(room, block.lo, block.hi-block.lo, 1)
		a.nearest(room, a.part[block.lo:block.hi], parts)
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

// load copies codes of points from place lo on, every step-th, to the room.
func (a *arrangement) load(room *arrangeScratch, lo, count, step int) {
	for i := range count {
		to := room.rows[i*a.places:][:a.places]
		for t, v := range a.c.row(int(a.order[lo+i*step]))[:len(to)] {
			to[t] = float32(v)
		}
	}
}

// seek returns centres for a group, by some steps of Lloyd from points of the group.
func (a *arrangement) seek(room *arrangeScratch, g group) []float32 {
	size := g.hi - g.lo
	parts := min(mostParts, (2*size+leafPoints-1)/leafPoints)
	count := min(size, parts*pointsPerPart)
	a.load(room, g.lo, count, size/count)
	a.scatter(room, count, parts)
	part := make([]uint8, count)
	for range partSteps {
		a.nearest(room, part, parts)
		clear(room.sums)
		clear(room.sizes[:])
		for i, p := range part {
			sums := room.sums[int(p)*a.places:][:a.places]
			for t, v := range room.rows[i*a.places:][:a.places] {
				sums[t] += int64(v)
			}
			room.sizes[p]++
		}
		for p := range parts {
			if size := room.sizes[p]; size > 0 { // else it stays
				for t, v := range room.sums[p*a.places:][:a.places] {
					room.centres[p*a.places+t] = float32(math.RoundToEven(float64(v) / float64(size)))
				}
			}
		}
	}
	return append([]float32(nil), room.centres[:parts*a.places]...)
}

// scatter chooses centres from the rows in the room, one after the other: each is the
// row that is farthest from those before it, of a few that are drawn. That finds
// clusters as k-means++ does, and rows that lie apart from all others less often than
// the farthest of all would.
func (a *arrangement) scatter(room *arrangeScratch, count, parts int) {
	const drawn = 8
	words := random.NewSplitMix64(uint64(count))
	distance := room.distance[:count]
	norm := func(row []float32) (sum float32) {
		for _, v := range row {
			sum += v * v
		}
		return sum
	}
	for i := range distance {
		distance[i] = float32(math.Inf(1))
		room.norm[i] = norm(room.rows[i*a.places:][:a.places])
	}
	for p := range parts {
		best := int(words.Uint64() % uint64(count))
		for range drawn {
			if i := int(words.Uint64() % uint64(count)); distance[i] > distance[best] {
				best = i
			}
		}
		centre := room.centres[p*a.places:][:a.places]
		copy(centre, room.rows[best*a.places:])
		a.k.Dots(simd.RowsOf(room.products, 1), simd.RowsOf(room.rows, a.places), simd.RowsOf(centre, a.places), count, 1, a.places)
		for i, v := range room.products[:count] {
			distance[i] = min(distance[i], room.norm[i]-2*v+room.norm[best])
		}
	}
}

// nearest finds the nearest centre for the rows in the room, of the lowest number
// among equals: that with the least |c|^2/2 - q.c.
func (a *arrangement) nearest(room *arrangeScratch, part []uint8, parts int) {
	for p := range parts {
		sum := float32(0)
		for _, v := range room.centres[p*a.places:][:a.places] {
			sum += v * v
		}
		room.half[p] = sum / 2
	}
	a.k.Dots(simd.RowsOf(room.products, mostParts), simd.RowsOf(room.rows, a.places), simd.RowsOf(room.centres, a.places), len(part), parts, a.places)
	for i := range part {
		best, least := 0, float32(math.Inf(1))
		for p, v := range room.products[i*mostParts:][:parts] {
			// Integers and halves below 2^24: exact, but for halves beyond 2^23, which
			// are rounded the same way everywhere.
			if s := room.half[p] - v; s < least {
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
