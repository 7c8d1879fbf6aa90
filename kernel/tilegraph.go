package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// tiledGraph searches by the distances of all pairs of blocks. An infinite
// radius takes every pair: the counts are known without a first pass, and so is
// the place of every entry.
func tiledGraph(ctx context.Context, p *pointSet, b Bandwidth, radius float64, o *Options) (*graph, error) {
	held := searchBytes(p.n, p.d, o)
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "blocked search", Need: held, Budget: o.BudgetBytes}
	}
	g := &graph{radius: radius}
	var rows []uint32
	rows, g.order, g.group = distinctRows(p)
	q := newDistancer(p, rows)
	g.entryRel = q.entryRel(b) + 0x1p-24 // the stored format
	g.distance = q.exact
	g.tail = make([]float64, q.n)
	counts := make([]uint64, q.n+1)
	pass := &tilePass{
		q: q, b: b, radius2: radiusSquared(radius), blocks: tournament{par.Blocks(q.n, tileRows)},
		tiles: make([]*tile, o.Workers.Workers()), tail: g.tail, multiplicity: g.multiplicity, counts: counts[1:],
		complete: math.IsInf(radius, 1),
	}
	if pass.complete {
		for i := range pass.counts {
			pass.counts[i] = uint64(q.n - 1)
		}
	} else if err := pass.run(ctx, o, "count neighbours"); err != nil {
		return nil, err
	}
	ptr, ind, val, err := o.allocate(ctx, counts, held)
	if err != nil {
		return nil, err
	}
	pass.next, pass.ind, pass.val = slices.Clone(ptr[:q.n]), ind, val
	if err := pass.run(ctx, o, "fill weights"); err != nil {
		return nil, err
	}
	if !pass.complete {
		if err := sortRows(ctx, ptr, ind, val, o.Workers); err != nil {
			return nil, err
		}
	}
	if g.weights, err = sparse.Adopt(ctx, o.Workers, o.exact(), q.n, q.n, ptr, ind, val); err != nil {
		return nil, err
	}
	size, _ := sparse.Bytes(o.exact(), q.n, uint64(len(ind)))
	g.peak = held + size
	return g, nil
}

// distinctRows finds equal rows. It returns the given row of each distinct
// point, and, if some are equal, all rows ordered by point and the bounds of
// the points in that order; otherwise three nils.
func distinctRows(p *pointSet) (rows, order, group []uint32) {
	order = make([]uint32, p.n)
	for i := range order {
		order[i] = uint32(i)
	}
	compare := func(a, b uint32) int { return slices.Compare(p.single.row(int(a)), p.single.row(int(b))) }
	slices.SortStableFunc(order, compare)
	for i, row := range order {
		if i == 0 || compare(order[i-1], row) != 0 {
			group = append(group, uint32(i))
		}
	}
	if len(group) == p.n {
		return nil, nil, nil
	}
	for _, i := range group {
		rows = append(rows, order[i])
	}
	return rows, order, append(group, uint32(p.n))
}

// tilePass visits all pairs of distinct points once, block against block, and
// counts those within the radius or, when next is set, stores their weights.
// The blocks of a round belong to one game each, so rows have one writer.
type tilePass struct {
	q            *distancer
	b            Bandwidth
	radius2      float64
	blocks       tournament
	round        int
	tiles        []*tile
	tail         []float64 // exact weight beyond the radius
	multiplicity func(i int) float64
	counts       []uint64
	complete     bool     // every pair is an entry
	next         []uint64 // where each row's next entry goes; its first if complete
	ind          []uint32
	val          []float32
}

func (t *tilePass) run(ctx context.Context, o *Options, stage string) error {
	progress := o.progress(stage, t.blocks.rounds())
	for t.round = range t.blocks.rounds() {
		if err := o.Workers.Do(ctx, t.blocks.games(t.round), t); err != nil {
			return err
		}
		progress.add()
	}
	return nil
}

// Run plays one game.
func (t *tilePass) Run(worker, game int) {
	a, b, ok := t.blocks.game(t.round, game)
	if !ok {
		return
	}
	if t.tiles[worker] == nil {
		t.tiles[worker] = newTile(t.q.p.d)
	}
	room, q := t.tiles[worker], t.q
	alo, ahi := par.Block(a, q.n, tileRows)
	blo, bhi := par.Block(b, q.n, tileRows)
	q.fill(room, alo, ahi, blo, bhi)
	for i := alo; i < ahi; i++ {
		first := blo
		if a == b {
			first = i + 1
		}
		row := room.d2[(i-alo)*room.stride:]
		for j := first; j < bhi; j++ {
			d2 := row[j-blo]
			if math.Abs(d2-t.radius2) <= q.error2(i, j) {
				d2 = q.exact(i, j) // too close to call
			}
			within := d2 <= t.radius2
			switch {
			case t.next == nil && within:
				t.counts[i]++
				t.counts[j]++
			case t.next == nil:
				w := q.weight(t.b, i, j, d2)
				t.tail[i] += w * t.multiplicity(j)
				t.tail[j] += w * t.multiplicity(i)
			case t.complete: // row i has all columns but i, and j > i
				w := float32(q.weight(t.b, i, j, d2))
				t.put(t.next[i]+uint64(j-1), j, w)
				t.put(t.next[j]+uint64(i), i, w)
			case within:
				w := float32(q.weight(t.b, i, j, d2))
				t.put(t.next[i], j, w)
				t.put(t.next[j], i, w)
				t.next[i]++
				t.next[j]++
			}
		}
	}
}

func (t *tilePass) put(at uint64, column int, w float32) {
	t.ind[at], t.val[at] = uint32(column), w
}
