package codes

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// tailBounds bounds, for each point, the weight of the points that are not within the
// radius r of it. Of a point that codes reject it is known that it is farther than r, and
// no more. So it counts with w(r), unless the ball around its bundle of tiles is known to
// be farther. With radii r = r_0 < r_1 < .. < r_K, N given points in all, and N_k of them
// in bundles that are not beyond r_k, all points weigh at most
//
//	N_1 w(r_0) + (N_2 - N_1) w(r_1) + .. + (N - N_K) w(r_K),
//
// from which w(r_0) is subtracted for every point within the radius. All of these points
// are among the N_1.
type tailBounds struct {
	c       *codes
	bundles *codes      // centres of the balls of bundles, with their radii as slacks; nil when tiles have no balls
	panel   []uint8     // the codes of bundles, as columns
	size    []float64   // given points in the largest of each 64 bundles
	levels  []tailLevel // r_1 to r_K; nil when tiles have no balls
	weight  float64     // w(r_0)
	total   float64     // w(r_K) N
	sum     []float64   // the sum above, of each point
}

// A tailLevel is one of r_1 .. r_K.
type tailLevel struct {
	radius float64 // in units
	drop   float64 // of the weight, from the radius before to this radius
	reach  reach
	bias   []int32 // of the columns of bundles
}

const (
	// tailLevels is K.
	tailLevels = 4
	// tailStep is the logarithm of the quotient of the weights of one radius and the next.
	tailStep = 3.5
	// tailBundles is the most bundles there are. So few cost little compared with the search.
	tailBundles = 256
)

// newTailBounds prepares bounds for the points of tiles. They stand for n given points,
// point i for multiplicity(i) of them.
func newTailBounds(ctx context.Context, t *tiles, n int, multiplicity func(i int) float64, req *rows.Request) (*tailBounds, error) {
	radius := req.Radius
	points := len(t.c.norm2)
	tb := &tailBounds{c: t.c, weight: req.Weight(radius * radius), sum: make([]float64, points)}
	if t.balls == nil {
		tb.total = tb.weight * float64(n)
		return tb, nil
	}
	if err := tb.bundle(ctx, t, multiplicity, req.Workers); err != nil {
		return nil, err
	}
	tb.total = tb.setLevels(req) * float64(n)
	return tb, nil
}

// bundle makes at most tailBundles bundles of tiles next to each other. All have the same
// number of tiles; the last may have fewer.
func (tb *tailBounds) bundle(ctx context.Context, t *tiles, multiplicity func(i int) float64, workers *par.Workers) error {
	each := (t.count() + tailBundles - 1) / tailBundles
	count := (t.count() + each - 1) / each
	padded := (count + panelColumns - 1) / panelColumns * panelColumns
	tb.bundles = newCodes(count, t.c.depth, t.c.unit)
	tb.size = make([]float64, padded/64)
	sizes := make([]float64, count)
	if err := workers.Do(ctx, count, par.Func(func(_, b int) {
		lo, hi := t.start[b*each], t.start[min((b+1)*each, t.count())]
		tb.bundles.enclose(b, t.c, lo, hi)
		for i := lo; i < hi; i++ {
			sizes[b] += multiplicity(i)
		}
	})); err != nil {
		return err
	}
	tb.bundles.widest = slices.Max(tb.bundles.slack)
	for b, size := range sizes {
		tb.size[b/64] = max(tb.size[b/64], size)
	}
	tb.panel = make([]uint8, padded*t.c.depth)
	tb.bundles.panel(tb.panel, 0, count)
	return nil
}

// setLevels sets the levels of the radii r_1 to r_K and returns w(r_K).
func (tb *tailBounds) setLevels(req *rows.Request) float64 {
	radius, unit := req.Radius, tb.c.unit
	usual := quantile(tb.c.slack, 0.9)
	before := tb.weight
	for k := 1; k <= tailLevels; k++ {
		r2 := radius*radius + tailStep*float64(k)/req.Gamma
		w := req.Weight(r2)
		// The radius is rounded up: points beyond it are farther than r_k.
		level := tailLevel{radius: math.Sqrt(r2) * (1 + 0x1p-40) / unit, drop: before - w, bias: make([]int32, len(tb.size)*64)}
		level.reach = reach{usual: bounded(level.radius + usual), most: tb.bundles.widest}
		level.reach.biases(level.bias, tb.bundles.norm2, tb.bundles.slack)
		tb.levels, before = append(tb.levels, level), w
	}
	return before
}

// tailBytes is the bytes that the bounds of n points take.
func tailBytes(n, depth int) int64 {
	return int64(n)*8 + (tailBundles+panelColumns)*(2*codeBytes(depth)+4*tailLevels)
}

// tailScratch is the scratch memory of a worker.
type tailScratch struct {
	mask      []uint64
	threshold []int32
}

// newScratch returns scratch memory for a worker.
func (tb *tailBounds) newScratch() tailScratch {
	return tailScratch{make([]uint64, panelColumns*len(tb.size)), make([]int32, panelColumns)}
}

// bound sets the sums of the points lo to hi-1, which are a tile.
func (tb *tailBounds) bound(scratch *tailScratch, k *simd.Kernels, lo, hi int) {
	for i := lo; i < hi; i++ {
		tb.sum[i] = tb.total
	}
	c, words := tb.c, len(tb.size)
	for l := range tb.levels {
		level := &tb.levels[l]
		threshold := scratch.threshold[:hi-lo]
		for i := range threshold {
			threshold[i] = c.threshold(level.reach, lo+i, level.radius)
		}
		k.ByteDotsAbove(scratch.mask, c.code[lo*c.depth:], tb.panel, c.depth, level.bias, threshold)
		for i := range hi - lo {
			near := 0.0
			for w, word := range scratch.mask[i*words:][:words] {
				near += float64(bits.OnesCount64(word)) * tb.size[w]
			}
			tb.sum[lo+i] += near * level.drop
		}
	}
}

// tail returns the bound of point i. within is the number of given points within its
// radius, the point itself and its equals included.
func (tb *tailBounds) tail(i int, within float64) float64 {
	return max(tb.sum[i]*(1+1e-9)-tb.weight*within, 0)
}

// all returns the bounds of all points whose rows of weights are here. found holds the points
// within the radius of each.
func (tb *tailBounds) all(found *rows.Result) []float64 {
	var buffer sparse.RowBuffer
	lo, hi := found.Weights.OwnRows()
	out := make([]float64, hi-lo)
	for i := lo; i < hi; i++ {
		within := float64(found.Weights.RowLen(i)) + 1
		if found.Group != nil {
			within = found.Multiplicity(i)
			ind, _ := found.Weights.Row(i, &buffer)
			for _, j := range ind {
				within += found.Multiplicity(int(j))
			}
		}
		out[i-lo] = tb.tail(i, within)
	}
	return out
}
