package grid

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/par"
)

// A gridExchange hands a rank the numbers in nodes that the nodes of its own cells see.
// A rank spreads the rows of its pieces, whose cells are next to each other, and makes the
// products of these cells. What comes to them along the first axis reaches a few cells
// beyond, so a rank gets some cells of its neighbours, and no more. A cell whose points are
// split into slots may belong to several ranks: every rank gets all slots, and joins them.
type gridExchange struct {
	ranks   *par.Ranks
	out, in []gridTiles // to and from each rank
	slots   []int       // first number of each rank among the tiles of slots, and the end
}

// gridTiles are the tiles of the cells lo to hi-1, packed.
type gridTiles struct {
	lo, hi int
	tiles  []float64
}

// cellShares returns the first cell of each rank, and the end. A cell that is split into
// slots counts for the last of the ranks that have a part of it.
func (op *Grid) cellShares() []int {
	shares := slices.Clone(op.ChunkShares())
	for r, piece := range shares {
		shares[r] = op.Cells.Count()
		if piece < len(op.Pieces) {
			shares[r] = op.Pieces[piece].cell
		}
	}
	return shares
}

// cellsOf returns the cells lo to hi-1 of the pieces from to to-1, parts of cells included.
func (op *Grid) cellsOf(from, to int) (lo, hi int) {
	if from >= to {
		return 0, 0
	}
	last := &op.Pieces[to-1]
	return op.Pieces[from].cell, last.cell + last.cells
}

// newGridExchange plans what a pass of k columns exchanges. It returns nil for one process.
func newGridExchange(op *Grid, k int) *gridExchange {
	if op.Ranks.Alone() {
		return nil
	}
	size, rank := k*op.Transfer.TileSize(), op.Ranks.Rank()
	shares, pieces := op.cellShares(), op.ChunkShares()
	sources := func(r int) (from, to int) { return op.Transfer.Sources(op.cellsOf(pieces[r], pieces[r+1])) }
	tiles := func(owner, reader int) gridTiles {
		if owner == reader {
			return gridTiles{}
		}
		from, to := sources(reader)
		lo, hi := max(from, shares[owner]), min(to, shares[owner+1])
		return gridTiles{lo, hi, make([]float64, max(hi-lo, 0)*size)}
	}
	e := &gridExchange{ranks: op.Ranks, slots: make([]int, len(pieces))}
	for r := range op.Ranks.Size() {
		e.out, e.in = append(e.out, tiles(rank, r)), append(e.in, tiles(r, rank))
	}
	slots, at := 0, 0
	for r, end := range pieces {
		for ; at < end; at++ {
			if op.Pieces[at].slot >= 0 {
				slots++
			}
		}
		e.slots[r] = slots * size
	}
	return e
}

// Traffic says that no rows of the iterate travel, but where there are direct rows: nodes do.
func (op *Grid) Traffic(k int) graphstats.Traffic {
	if len(op.Direct.Rows) > 0 {
		return op.Base.Traffic(k)
	}
	return graphstats.Traffic{}
}

// exchange sets the nodes that this rank needs of others, and the slots.
func (pass *gridPass[T]) exchange(ctx context.Context) error {
	e := pass.ranks
	out, in := make([][]float64, len(e.out)), make([][]float64, len(e.in))
	for r := range out {
		out[r], in[r] = e.out[r].tiles, e.in[r].tiles
		pass.eachTile(&e.out[r], pass.load)
	}
	wait, err := exchange.Begin(ctx, e.ranks, out, in)
	if err != nil {
		return err
	}
	if err := wait(ctx); err != nil {
		return err
	}
	for r := range e.in {
		pass.eachTile(&e.in[r], pass.store)
	}
	if pass.op.Slots == 0 {
		return nil
	}
	return exchange.Gather(ctx, e.ranks, pass.slots, e.slots)
}

// eachTile visits the cells of some tiles, with the k tiles of each.
func (pass *gridPass[T]) eachTile(t *gridTiles, visit func(cell int, tiles []float64)) {
	size := pass.K * pass.op.Transfer.TileSize()
	for cell := t.lo; cell < t.hi; cell++ {
		visit(cell, t.tiles[(cell-t.lo)*size:][:size])
	}
}
