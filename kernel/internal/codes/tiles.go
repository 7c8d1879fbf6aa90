package codes

import (
	"context"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// tiles are runs of at most panelColumns points next to each other in the order of a
// search. Their codes are laid out for simd.ByteDotsAbove. Each tile may have a ball around
// it. The centre of a ball is a code, which is exact, and its radius is
//
//	rho = max over the points of the tile of |q - centre| + e.
//
// No point x within r of a point of the tile has |q_x - centre| > r/unit + e_x + rho.
type tiles struct {
	c      *codes
	start  []int   // first point of each tile, and the end
	panels []uint8 // the codes of each tile, as panelColumns columns
	balls  *codes  // centres of the balls, with their radii as slacks; nil when tiles have no balls
}

// leastTile is how many points a tile has at least when it ends at the end of a group. A
// tile of points of two groups would have a large ball.
const leastTile = 40

// newTiles makes tiles of points in groups that end at the given places, with balls around
// them. Without ends it makes no balls: then it does not matter which points are in a tile,
// and all tiles are full. The tiles have no panels yet.
func newTiles(ctx context.Context, c *codes, ends []int, workers *par.Workers) (*tiles, error) {
	n := len(c.norm2)
	t := &tiles{c: c, start: []int{0}}
	begin, next := 0, 0
	for begin < n {
		end := min(begin+panelColumns, n)
		for next < len(ends) && ends[next] < begin+leastTile {
			next++
		}
		if next < len(ends) {
			end = min(end, ends[next])
		}
		t.start = append(t.start, end)
		begin = end
	}
	if ends == nil {
		return t, nil
	}
	t.balls = newCodes(t.count(), c.depth, c.unit)
	err := workers.Do(ctx, t.count(), par.Func(func(_, tile int) {
		t.balls.enclose(tile, c, t.start[tile], t.start[tile+1])
	}))
	t.balls.widest = slices.Max(t.balls.slack)
	return t, err
}

// fill makes the panels.
func (t *tiles) fill(ctx context.Context, workers *par.Workers) error {
	size := t.count() * panelColumns * t.c.depth
	mem.MakeRoom(int64(size))
	t.panels = make([]uint8, size)
	return workers.Do(ctx, t.count(), par.Func(func(_, tile int) {
		t.c.panel(t.panel(tile, tile+1), t.start[tile], t.start[tile+1])
	}))
}

// tilesBytes is the bytes that tiles of n points take at most.
func tilesBytes(n, depth int) int64 {
	count := int64(n)/leastTile + 2
	return count * (panelColumns*int64(depth) + codeBytes(depth) + 8 + 8*panelColumns)
}

// count returns the number of tiles.
func (t *tiles) count() int { return len(t.start) - 1 }

// panel returns the columns of the tiles from to to-1.
func (t *tiles) panel(from, to int) []uint8 {
	return t.panels[from*panelColumns*t.c.depth : to*panelColumns*t.c.depth]
}

// biases returns the biases of the columns of all tiles, for reaches b of the points.
func (t *tiles) biases(r reach, b []float64) []int32 {
	out := make([]int32, t.count()*panelColumns)
	for tile := range t.count() {
		lo, hi := t.start[tile], t.start[tile+1]
		r.biases(out[tile*panelColumns:][:panelColumns], t.c.norm2[lo:hi], b[lo:hi])
	}
	return out
}

// ballTerms returns the thresholds of balls as rows of simd.ByteDotsAbove, and the biases
// of points as its columns. They are for the question whether a point is so near to a ball
// that points of its tile may be within the radius.
func (t *tiles) ballTerms(radius float64) (threshold, bias []int32) {
	near := searchReach(t.c, radius).radius
	r := reach{usual: bounded(near + quantile(t.balls.slack, 0.9)), most: t.c.widest}
	threshold = make([]int32, t.count())
	for ball := range threshold {
		threshold[ball] = t.balls.threshold(r, ball, near)
	}
	return threshold, t.biases(r, t.c.slack)
}

// Tiles have no balls where a point is near to more than the share ballShare of the balls:
// balls then save less than they cost.
const ballShare = 0.85

// share returns the share of balls that a point is near to, by the points of some tiles. It
// needs no panels.
func (t *tiles) share(radius float64, k *simd.Kernels) float64 {
	threshold, bias := t.ballTerms(radius)
	near, panel, points := make([]uint64, t.count()), make([]uint8, panelColumns*t.c.depth), 0
	left := 0
	for _, tile := range rows.Spread(min(t.count(), 32), t.count()) {
		t.c.panel(panel, t.start[tile], t.start[tile+1])
		k.ByteDotsAbove(near, t.balls.code, panel, t.c.depth, bias[tile*panelColumns:][:panelColumns], threshold)
		for _, word := range near {
			left += bits.OnesCount64(word)
		}
		points += t.start[tile+1] - t.start[tile]
	}
	return float64(left) / (float64(points) * float64(t.count()))
}
