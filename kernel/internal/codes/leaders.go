package codes

import (
	"context"
	"math"
	"math/bits"

	"github.com/seed-64e14a55/privatemail/internal/radix"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

const (
	// leaderReach is the reach of a leader, in radii: points that are about a radius away
	// from each other are mostly within this reach of any one of them.
	leaderReach = 1.3
	// leaderSample points are looked at, leaderBatch at a time. More than mostLeaders
	// leaders are too many.
	leaderSample = 2048
	leaderBatch  = 16
	mostLeaders  = 512
	// Leaders make no groups where points are near to more than the share mostOverlap of
	// the leaders. overlapSample points, or twice as many, and so on, say so early if each
	// of them is near to severalLeaders on average: where there are groups, points are not.
	mostOverlap    = 0.1
	overlapSample  = 256
	severalLeaders = 3
)

// Sums of exactEntries products of entries of codes are exact in float32.
const exactEntries = 1024

// A group of more than leafPoints points is split.
const leafPoints = 96

// A group is the points at places lo to hi-1.
type group struct {
	lo, hi int
	done   bool // is not to be split
}

// leaders are codes in the middle of groups of points that are near to each other.
type leaders struct {
	count int     // number of leaders; mostLeaders+1 when there are too many
	reach float64 // of a leader, in units of codes
	codes *codes  // of the leaders, with memory for mostLeaders
}

// findLeaders looks at some points, one after the other. A point that is within reach of
// a leader follows it, and a point that is not is a leader itself. Then leaders move to
// the middle of the points that follow them. Features of classes make as many leaders as
// there are classes, if points of a class are nearer to each other than to other points.
// Points that do not form groups make one leader, or too many, or some leaders that most
// points are near to, which count as one.
func findLeaders(c *codes, reach float64, k *simd.Kernels) *leaders {
	s := newLeaderSearch(c, reach, k)
	n := len(c.norm2)
	sample := rows.Spread(min(n, leaderSample), n)
	look := overlapSample
	for lo := 0; lo < len(sample); lo += leaderBatch {
		batch := sample[lo:min(lo+leaderBatch, len(sample))]
		s.load(batch)
		if !s.follow(batch) {
			s.leaders.count = mostLeaders + 1
			return s.leaders
		}
		if seen := lo + leaderBatch; seen == look {
			look *= 2
			if s.overlaps(seen) {
				// The points that are left would make other leaders, and as near.
				s.leaders.count = 1
				return s.leaders
			}
		}
	}
	s.settle()
	if s.leaders.overlap(c, k) > mostOverlap {
		s.leaders.count = 1
	}
	return s.leaders
}

// A leaderSearch is the state of findLeaders.
type leaderSearch struct {
	c       *codes
	k       *simd.Kernels
	leaders *leaders
	limit   float32   // square of the reach
	entries int       // of a code that are looked at
	codes   []float32 // of the leaders so far
	norms   []float32 // their squares
	sums    [][]int64 // of the codes of the points that follow each leader
	sizes   []int64   // how many points follow each leader

	rows     []float32 // codes of a batch of points
	norm     []float32 // their squares
	products []float32 // with the leaders

	near, all int // pairs of a point and a leader within reach, of all that were compared
}

// newLeaderSearch returns a search that has seen no point.
func newLeaderSearch(c *codes, reach float64, k *simd.Kernels) *leaderSearch {
	l := &leaders{reach: bounded(reach), codes: newCodes(mostLeaders, c.depth, c.unit)}
	entries := min(c.depth, exactEntries)
	return &leaderSearch{
		c: c, k: k, leaders: l, limit: float32(l.reach * l.reach), entries: entries,
		sums: make([][]int64, 0, mostLeaders), sizes: make([]int64, 0, mostLeaders),
		rows: make([]float32, leaderBatch*entries), norm: make([]float32, leaderBatch), products: make([]float32, leaderBatch*mostLeaders),
	}
}

// load sets the rows and norms of a batch of points.
func (s *leaderSearch) load(batch []int) {
	for b, i := range batch {
		s.norm[b] = 0
		for t, v := range s.c.row(i)[:s.entries] {
			s.rows[b*s.entries+t] = float32(v)
			s.norm[b] += float32(v) * float32(v)
		}
	}
}

// follow finds the leader of each point of a batch, the first within reach, or makes the
// point one. It returns false where there would be more than mostLeaders.
func (s *leaderSearch) follow(batch []int) bool {
	l, entries := s.leaders, s.entries
	known := l.count
	s.k.Dots(simd.RowsOf(s.products, mostLeaders), simd.RowsOf(s.rows, entries), simd.RowsOf(s.codes, entries), len(batch), known, entries)
	for b, i := range batch {
		row, with := s.rows[b*entries:][:entries], s.products[b*mostLeaders:]
		// With the leaders that this batch has made.
		s.k.Dots(simd.RowsOf(with[known:], 1), simd.RowsOf(s.codes[known*entries:], entries), simd.RowsOf(row, entries), l.count-known, 1, entries)
		leader := -1
		s.all += l.count
		for p := l.count - 1; p >= 0; p-- {
			if s.norm[b]+s.norms[p]-2*with[p] <= s.limit {
				leader = p
				s.near++
			}
		}
		if leader < 0 {
			if l.count == mostLeaders {
				return false
			}
			leader = l.count
			s.join(row, s.norm[b])
		}
		for t, v := range s.c.row(i) {
			s.sums[leader][t] += int64(v)
		}
		s.sizes[leader]++
	}
	return true
}

// join makes a point a leader that nobody follows so far.
func (s *leaderSearch) join(row []float32, norm float32) {
	s.codes, s.norms = append(s.codes, row...), append(s.norms, norm)
	s.sums, s.sizes = append(s.sums, make([]int64, s.c.depth)), append(s.sizes, 0)
	s.leaders.count++
}

// overlaps reports whether the points seen so far are near to more leaders than points in
// groups are.
func (s *leaderSearch) overlaps(seen int) bool {
	return s.near > severalLeaders*seen && float64(s.near) > mostOverlap*float64(s.all)
}

// settle moves the leaders to the middle of the points that follow them.
func (s *leaderSearch) settle() {
	l := s.leaders
	for p, sum := range s.sums {
		for t, v := range sum {
			l.codes.row(p)[t] = int8(math.RoundToEven(float64(v) / float64(s.sizes[p])))
		}
		l.codes.measure(p)
	}
}

// overlap returns the share of leaders, its own aside, that are within reach of a point,
// by a sample of points.
func (l *leaders) overlap(c *codes, k *simd.Kernels) float64 {
	sample := rows.Spread(min(len(c.norm2), 64), len(c.norm2))
	r, panel, bias := l.panel()
	mask, threshold, code := make([]uint64, len(sample)*len(bias)/64), make([]int32, len(sample)), make([]int8, 0, len(sample)*c.depth)
	for at, i := range sample {
		threshold[at] = r.threshold(c.norm2[i], c.sum[i], l.reach)
		code = append(code, c.row(i)...)
	}
	k.ByteDotsAbove(mask, code, panel, c.depth, bias, threshold)
	near := 0
	for _, word := range mask {
		near += bits.OnesCount64(word)
	}
	return float64(max(near-len(sample), 0)) / float64(len(sample)*max(l.count-1, 1))
}

// panel lays the leaders out as columns of simd.ByteDotsAbove. A point is near to a column
// where it is within reach of the leader.
func (l *leaders) panel() (r reach, panel []uint8, bias []int32) {
	columns := (l.count + panelColumns - 1) / panelColumns * panelColumns
	r = reach{usual: l.reach}
	panel, bias = make([]uint8, columns*l.codes.depth), make([]int32, columns)
	l.codes.panel(panel, 0, l.count)
	r.biases(bias, l.codes.norm2[:l.count], l.codes.slack) // the slack of leaders is 0: their codes are exact
	return r, panel, bias
}

// distanceBits is the number of bits of a squared distance of codes.
const distanceBits = 28

// assign orders points by the nearest leader, of the lowest number among equals, and by
// the distance from it. Points that no leader is near to come last.
func (l *leaders) assign(ctx context.Context, c *codes, req *rows.Request) (order []uint32, groups []group, err error) {
	keys, order, err := l.keys(ctx, c, req)
	if err != nil {
		return nil, nil, err
	}
	if keys, err = radix.Sort(ctx, keys, order, distanceBits+bits.Len(uint(l.count)), req.Workers); err != nil {
		return nil, nil, err
	}
	n := len(keys)
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && keys[hi]>>distanceBits == keys[lo]>>distanceBits {
			hi++
		}
		groups = append(groups, group{lo, hi, hi-lo <= leafPoints})
		lo = hi
	}
	return order, groups, nil
}

// keys returns a key of every point: the number of its leader, count where it has none,
// and the squared distance from the leader. It also returns the points, in their order.
func (l *leaders) keys(ctx context.Context, c *codes, req *rows.Request) (keys []uint64, order []uint32, err error) {
	n := len(c.norm2)
	r, panel, bias := l.panel()
	keys, order = make([]uint64, n), make([]uint32, n)
	words := len(bias) / 64
	err = req.Workers.Do(ctx, split.Blocks(n, panelColumns), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, panelColumns)
		mask, threshold := make([]uint64, (hi-lo)*words), make([]int32, hi-lo)
		for i := range threshold {
			threshold[i] = r.threshold(c.norm2[lo+i], c.sum[lo+i], l.reach)
		}
		req.Kernels.ByteDotsAbove(mask, c.code[lo*c.depth:], panel, c.depth, bias, threshold)
		for i := lo; i < hi; i++ {
			leader, d2 := l.nearest(c, i, mask[(i-lo)*words:][:words])
			keys[i], order[i] = uint64(leader)<<distanceBits|uint64(d2), uint32(i)
		}
	}))
	return keys, order, err
}

// nearest returns the nearest to point i of the leaders in a mask, of the lowest number
// among equals, and the squared distance from it; count and 0 when the mask is empty.
func (l *leaders) nearest(c *codes, i int, mask []uint64) (nearest int, least int64) {
	nearest = l.count
	for w, word := range mask {
		for ; word != 0; word &= word - 1 {
			p := w*64 + bits.TrailingZeros64(word)
			d2 := int64(c.norm2[i]) + int64(l.codes.norm2[p]) - 2*dot8(c.row(i), l.codes.row(p))
			if nearest == l.count || d2 < least {
				nearest, least = p, d2
			}
		}
	}
	return nearest, least
}

// dot8 returns the product of two codes.
func dot8(a, b []int8) int64 {
	sum := int32(0) // below 2^26
	b = b[:len(a)]
	for t, v := range a {
		sum += int32(v) * int32(b[t])
	}
	return int64(sum)
}
