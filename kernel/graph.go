package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A graph is the outcome of a neighbour search: the weights between distinct
// points and what is known of those left out.
type graph struct {
	weights  *sparse.CSR
	order    []uint32  // given row of each internal row; nil when equal
	group    []uint32  // internal rows of each distinct point; nil when all are distinct
	radius   float64   // beyond which no pair is; +Inf where every pair is kept
	tail     []float64 // bounds the weight left out, for each distinct point
	entryRel float64
	peak     int64 // bytes held at most while building
	distance func(i, j int) float64
}

// searchGraph finds all pairs within the radius, in two passes: the first
// counts, so that the memory is known before the second fills it.
func searchGraph(ctx context.Context, p *pointSet, b Bandwidth, radius float64, o *Options) (*graph, error) {
	if radius >= p.farthest() && p.farthest() <= maxRadius(b) {
		return tiledGraph(ctx, p, b, math.Inf(1), o) // every pair: nothing to find
	}
	radius = min(radius, maxRadius(b))
	if p.d <= maxDirect {
		return cellGraph(ctx, p, b, radius, o)
	}
	return tiledGraph(ctx, p, b, radius, o)
}

// allocate turns the counts of a first pass, which it overwrites, into row
// pointers, and makes room for the entries if the budget allows.
func (o *Options) allocate(counts []uint64, held int64) (ptr []uint64, ind []uint32, val []float32, err error) {
	// counts[i+1] is the count of row i.
	ptr = counts
	for i := 1; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
	nnz := ptr[len(ptr)-1]
	need, ok := sparse.Bytes(len(ptr)-1, nnz)
	if !ok || need > o.BudgetBytes-held {
		if !ok {
			need = math.MaxInt64 - held
		}
		return nil, nil, nil, &MemoryError{
			What: fmt.Sprintf("build csr of %d weights", nnz), Need: need + held, Budget: o.BudgetBytes,
			Instead: "the operator dense stores no weights; a smaller sigma, cutoff or a larger tolerance stores fewer",
		}
	}
	return ptr, make([]uint32, nnz), make([]float32, nnz), nil
}

// cellGraph searches with a cell list.
func cellGraph(ctx context.Context, p *pointSet, b Bandwidth, radius float64, o *Options) (*graph, error) {
	held := searchBytes(p.n, p.d, o)
	if held > o.BudgetBytes {
		return nil, &MemoryError{What: "cell list", Need: held, Budget: o.BudgetBytes}
	}
	cl, err := newCellList(ctx, p, radius, o.Workers)
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, cl.n+1)
	counting := o.progress("count neighbours", cl.pieces())
	if err := o.Workers.Do(ctx, cl.pieces(), par.Func(func(_, piece int) {
		cl.visit(piece, func(_, i int, ind []uint32, _ []float64) { counts[i+1] = uint64(len(ind)) })
		counting.add()
	})); err != nil {
		return nil, err
	}
	ptr, ind, val, err := o.allocate(counts, held)
	if err != nil {
		return nil, err
	}
	cellTail, err := cl.tails(ctx, b, radius, o.Workers)
	if err != nil {
		return nil, err
	}
	atRadius := b.Weight(radius * radius)
	tail := make([]float64, cl.n)
	filling := o.progress("fill weights", cl.pieces())
	if err := o.Workers.Do(ctx, cl.pieces(), par.Func(func(_, piece int) {
		cl.visit(piece, func(cell, i int, row []uint32, d2 []float64) {
			at, near := ptr[i], cl.multiplicity(i) // near: points known to be within the radius
			copy(ind[at:], row)
			for e, v := range d2 {
				val[at+uint64(e)] = float32(b.Weight(v))
				near += cl.multiplicity(int(row[e]))
			}
			tail[i] = max(cellTail[cell]*(1+1e-9)-atRadius*float64(near), 0)
		})
		filling.add()
	})); err != nil {
		return nil, err
	}
	weights, err := sparse.New(cl.n, cl.n, ptr, ind, val)
	if err != nil {
		return nil, err
	}
	size, _ := sparse.Bytes(cl.n, uint64(len(ind)))
	return &graph{
		weights: weights, order: cl.order, group: cl.group, tail: tail, radius: radius,
		entryRel: directRel(p.d),
		peak:     held + size,
		distance: func(i, j int) float64 { return dist2(cl.point(i), cl.point(j)) },
	}, nil
}

// searchBytes is what a search takes beside the weights. Cell lists: sorted and
// unsorted keys and order, coordinates, and at worst a cell, a cluster and a
// box for every point; counts, tails, degrees and bounds of all rows.
func searchBytes(n, d int, o *Options) int64 {
	const perRow = 8 + 8 + 8 + 8 + 4 + 4
	if d <= maxDirect {
		return int64(n) * int64(perRow+2*(8+4)+2*(8+4+4+4)+8+3*4*d)
	}
	return int64(n)*(perRow+8+4+4) + int64(o.Workers.Workers())*tileBytes(d)
}

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
	g.entryRel = q.entryRel(b)
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
	ptr, ind, val, err := o.allocate(counts, held)
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
	if g.weights, err = sparse.New(q.n, q.n, ptr, ind, val); err != nil {
		return nil, err
	}
	size, _ := sparse.Bytes(q.n, uint64(len(ind)))
	g.peak = held + size
	return g, nil
}

// sortRows orders rows that were filled in the order of the rounds.
func sortRows(ctx context.Context, ptr []uint64, ind []uint32, val []float32, set *par.Set) error {
	const rowsPerPiece = 256
	rows := len(ptr) - 1
	return set.Do(ctx, par.Blocks(rows, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, rows, rowsPerPiece)
		var entries []uint64 // column and value in one word
		for i := lo; i < hi; i++ {
			cols, vals := ind[ptr[i]:ptr[i+1]], val[ptr[i]:ptr[i+1]]
			entries = entries[:0]
			for e, j := range cols {
				entries = append(entries, uint64(j)<<32|uint64(math.Float32bits(vals[e])))
			}
			slices.Sort(entries)
			for e, v := range entries {
				cols[e], vals[e] = uint32(v>>32), math.Float32frombits(uint32(v))
			}
		}
	}))
}

func (g *graph) multiplicity(i int) float64 {
	if g.group == nil {
		return 1
	}
	return float64(g.group[i+1] - g.group[i])
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
