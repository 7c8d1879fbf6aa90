package codes

import (
	"context"
	"math"
	"math/bits"

	"github.com/seed-64e14a55/privatemail/internal/radix"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

const (
	// leaderReach is the reach of a leader, in radii: so far from a point most of
	// those are that are a radius away from each other.
	leaderReach = 1.3
	// leaderSample are looked at, and more than mostLeaders are too many.
	leaderSample = 2048
	leaderBatch  = 16 // at a time
	mostLeaders  = 512
	// Where points are near to a larger share of leaders these make no groups. Some points,
	// overlapSample or twice as many, and so on, say so already where each is near to
	// severalLeaders, as in no groups there are.
	mostOverlap    = 0.1
	overlapSample  = 256
	severalLeaders = 3
)

// Sums of exactEntries products of entries of codes are exact in float32.
const exactEntries = 1024

// A group of more than leafPoints points is split.
const leafPoints = 96

// group is the points at places lo to hi-1.
type group struct {
	lo, hi int
	done   bool
}

// leaders are codes in the middle of groups of points that are near to each other.
type leaders struct {
	count int // those of them that were looked for; too many is all that is known beyond mostLeaders
	reach float64
	codes *codes
}

// findLeaders looks at some points, one after the other: one that is within reach of
// a leader follows it, and one that is not is a leader itself. Then leaders move to
// the middle of those that follow them. Features of classes make as many leaders as
// there are classes, if points of a class are nearer to each other than to others;
// points that do not form groups make one, too many, or some that most are near to,
// which count as one.
func findLeaders(c *codes, reach float64, k *simd.Kernels) *leaders {
	l := &leaders{reach: bounded(reach), codes: newCodes(mostLeaders, c.depth, c.unit)}
	limit := float32(l.reach * l.reach)
	sums, sizes := make([][]int64, 0, mostLeaders), make([]int64, 0, mostLeaders)
	n, entries := len(c.norm2), min(c.depth, exactEntries)
	batch, norm := make([]float32, leaderBatch*entries), make([]float32, leaderBatch)
	products := make([]float32, leaderBatch*mostLeaders)
	var codes, norms []float32 // of leaders
	sample := rows.Spread(min(n, leaderSample), n)
	near, all := 0, 0 // leaders of points, of those that they were compared with
	looks := overlapSample
	for lo := 0; lo < len(sample); lo += leaderBatch {
		some := sample[lo:min(lo+leaderBatch, len(sample))]
		for b, i := range some {
			norm[b] = 0
			for t, v := range c.row(i)[:entries] {
				batch[b*entries+t] = float32(v)
				norm[b] += float32(v) * float32(v)
			}
		}
		known := l.count
		k.Dots(simd.RowsOf(products, mostLeaders), simd.RowsOf(batch, entries), simd.RowsOf(codes, entries), len(some), known, entries)
		for b, i := range some {
			row, with := batch[b*entries:][:entries], products[b*mostLeaders:]
			// With those that joined since.
			k.Dots(simd.RowsOf(with[known:], 1), simd.RowsOf(codes[known*entries:], entries), simd.RowsOf(row, entries), l.count-known, 1, entries)
			follows := -1
			all += l.count
			for p := l.count - 1; p >= 0; p-- {
				if norm[b]+norms[p]-2*with[p] <= limit {
					follows = p
					near++
				}
			}
			if follows < 0 {
				if l.count == mostLeaders {
					l.count++
					return l
				}
				follows = l.count
				codes, norms = append(codes, row...), append(norms, norm[b])
				l.count++
				sums, sizes = append(sums, make([]int64, c.depth)), append(sizes, 0)
			}
			for t, v := range c.row(i) {
				sums[follows][t] += int64(v)
			}
			sizes[follows]++
		}
		if seen := lo + leaderBatch; seen == looks {
			looks *= 2
			if near > severalLeaders*seen && float64(near) > mostOverlap*float64(all) {
				// Those that are left would make other leaders, and as near.
				l.count = 1
				return l
			}
		}
	}
	for p, sum := range sums {
		for t, v := range sum {
			l.codes.row(p)[t] = int8(math.RoundToEven(float64(v) / float64(sizes[p])))
		}
		l.codes.measure(p)
	}
	if l.overlap(c, k) > mostOverlap {
		l.count = 1
	}
	return l
}

// overlap returns the share of leaders that are within reach of a point beside its own,
// by a sample.
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

// panel lays leaders out as columns of simd.ByteDotsAbove that points within reach are near to.
func (l *leaders) panel() (r reach, panel []uint8, bias []int32) {
	columns := (l.count + panelColumns - 1) / panelColumns * panelColumns
	r = reach{usual: l.reach}
	panel, bias = make([]uint8, columns*l.codes.depth), make([]int32, columns)
	l.codes.panel(panel, 0, l.count)
	r.biases(bias, l.codes.norm2[:l.count], l.codes.slack) // they are what they are: no slack
	return r, panel, bias
}

// assign orders points by the nearest leader, of the lowest number among equals, and
// its distance. Those that none is near come last.
func (l *leaders) assign(ctx context.Context, c *codes, req *rows.Request) (order []uint32, groups []group, err error) {
	n := len(c.norm2)
	r, panel, bias := l.panel()
	keys := make([]uint64, n)
	order = make([]uint32, n)
	const distanceBits = 28 // of a squared distance of codes
	words := len(bias) / 64
	if err := req.Workers.Do(ctx, par.Blocks(n, panelColumns), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, n, panelColumns)
		mask, threshold := make([]uint64, (hi-lo)*words), make([]int32, hi-lo)
		for i := range threshold {
			threshold[i] = r.threshold(c.norm2[lo+i], c.sum[lo+i], l.reach)
		}
		req.Kernels.ByteDotsAbove(mask, c.code[lo*c.depth:], panel, c.depth, bias, threshold)
		for i := lo; i < hi; i++ {
			nearest, least := l.count, int64(0)
			for w, word := range mask[(i-lo)*words:][:words] {
				for ; word != 0; word &= word - 1 {
					p := w*64 + bits.TrailingZeros64(word)
					d2 := int64(c.norm2[i]) + int64(l.codes.norm2[p]) - 2*dot8(c.row(i), l.codes.row(p))
					if nearest == l.count || d2 < least {
						nearest, least = p, d2
					}
				}
			}
			keys[i], order[i] = uint64(nearest)<<distanceBits|uint64(least), uint32(i)
		}
	})); err != nil {
		return nil, nil, err
	}
	if keys, err = radix.Sort(ctx, keys, order, distanceBits+bits.Len(uint(l.count)), req.Workers); err != nil {
		return nil, nil, err
	}
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

// dot8 returns the product of two codes.
func dot8(a, b []int8) int64 {
	sum := int32(0) // below 2^26
	b = b[:len(a)]
	for t, v := range a {
		sum += int32(v) * int32(b[t])
	}
	return int64(sum)
}
