package grid

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// A gridPiece is a run of sorted points that one worker spreads and finishes: those
// of some cells, or some of those of a crowded one.
type gridPiece struct {
	cell, cells int // the first cell, and how many there are
	lo, hi      int // points
	slot        int // of the sums of some points of a cell; -1 for whole cells
}

const (
	gridPiecePoints = 1024 // most points of a piece of several cells
	gridPieceCells  = 1024 // most cells of a piece
)

// splitPieces splits sorted points into pieces, and counts the slots.
func splitPieces(cells *lattice.Sorted) (pieces []gridPiece, slots int) {
	for cell := 0; cell < cells.Count(); {
		at, lo := cell, int(cells.Start[cell])
		for cell++; cell < cells.Count() && cell-at < gridPieceCells && int(cells.Start[cell+1])-lo <= gridPiecePoints; cell++ {
		}
		hi := int(cells.Start[cell])
		parts := 1
		if cell == at+1 {
			parts = max(split.Blocks(hi-lo, lattice.MostPoints), 1)
		}
		for part := range parts {
			piece := gridPiece{cell: at, cells: cell - at, lo: lo + split.Part(hi-lo, part, parts), hi: lo + split.Part(hi-lo, part+1, parts), slot: -1}
			if parts > 1 {
				piece.slot, slots = slots, slots+1
			}
			pieces = append(pieces, piece)
		}
	}
	return pieces, slots
}

// gridPass is the pass of grid.
type gridPass[T rows.Float] struct {
	*step.Product[T]
	op      *Grid
	nodes   *lattice.Pass
	ranks   *gridExchange // nil for one process
	runs    []int         // of a tile among the nodes
	slots   []float64     // tiles of parts of cells
	scratch []gridScratch
	centre  []float64 // is subtracted from the rows of x and comes back behind the product
	first   bool      // the weights of points and themselves are to be made
}

// gridScratch is the scratch memory of a worker. Points are done a batch at a time, m of
// them with those that fill the lanes.
type gridScratch struct {
	basis   [lattice.MaxAxes][]float64 // p rows of m numbers each
	rows    []float64                  // products of the basis along all axes but the last, rows of m
	tile    []float64                  // k tiles
	x       []float64                  // k rows of m: the numbers of points, less the centre
	wx      []float64                  // k rows of m
	product []float64                  // m rows of k
	sums    step.Partial               // of the piece at hand
}

// filled returns n rounded up to what fills the lanes.
func filled(n int) int { return split.Blocks(n, simd.NodeLanes) * simd.NodeLanes }

func newGridPass[T rows.Float](op *Grid, p *step.Product[T]) *gridPass[T] {
	t, k := op.Transfer, p.K
	workers := op.Workers.Count()
	pass := &gridPass[T]{
		Product: p, op: op, nodes: lattice.NewPass(t, k, workers, op.Kernels), runs: t.Runs(),
		slots: make([]float64, op.Slots*k*t.TileSize()), scratch: make([]gridScratch, workers), centre: make([]float64, k),
	}
	for w := range pass.scratch {
		pass.scratch[w] = newGridScratch(t, k)
	}
	if pass.ranks = newGridExchange(op, k); pass.ranks != nil {
		pass.nodes.Restrict(op.cellsOf(op.OwnChunks()))
	}
	return pass
}

// newGridScratch takes one piece of memory, with a gap on either side: workers write
// these numbers all the time and must not share a cache line.
func newGridScratch(t *lattice.Transfer, k int) (scratch gridScratch) {
	const gap = 16
	m, rows := t.Batch(t.P), t.TileSize()/t.P
	memory := make([]float64, gap+(t.D*t.P+rows+3*k)*m+k*t.TileSize()+gap)[gap:]
	take := func(n int) []float64 {
		part := memory[:n:n]
		memory = memory[n:]
		return part
	}
	for a := range t.D {
		scratch.basis[a] = take(t.P * m)
	}
	scratch.rows, scratch.tile = take(rows*m), take(k*t.TileSize())
	scratch.x, scratch.wx, scratch.product = take(k*m), take(k*m), take(k*m)
	return scratch
}

// grow gives every worker the memory that the piece with the most classes takes, so that
// no later step allocates.
func (pass *gridPass[T]) grow(ps *step.Partials) {
	most := 0
	for i := range ps.Chunk {
		most = max(most, len(ps.Chunk[i].Class))
	}
	const gap = 16
	for i := range pass.scratch {
		if sums := &pass.scratch[i].sums; cap(sums.Class) < most {
			memory := make([]float64, gap+pass.K+most+gap)[gap:]
			sums.Sums, sums.Class = memory[:pass.K:pass.K], memory[pass.K:][:most:most]
		}
	}
}

// Prepare spreads x to the nodes and lets them exchange what they have.
func (pass *gridPass[T]) Prepare(ctx context.Context) error {
	clear(pass.centre)
	if pass.Stats != nil {
		// Sums of differences from the mean are as small as the iterate is, and so
		// are their roundings.
		copy(pass.centre, pass.Stats.Finish.Mean)
		pass.grow(&pass.Stats.Partials)
	}
	from, to := pass.op.OwnChunks()
	if err := base.DoPieces(ctx, pass.op.Workers, from, to, pass); err != nil {
		return err
	}
	if pass.ranks != nil {
		if err := pass.exchange(ctx); err != nil {
			return err
		}
	}
	pass.joinSlots()
	return pass.nodes.Do(ctx, pass.op.Workers)
}

// NeedsAll reports whether a rank needs rows of x that are not its own: direct rows do. The others
// get what they need by nodes.
func (pass *gridPass[T]) NeedsAll() bool { return len(pass.op.Direct.Rows) > 0 }

// Run spreads the rows of x of one piece.
func (pass *gridPass[T]) Run(worker, piece int) {
	pass.spread(&pass.scratch[worker], &pass.op.Pieces[piece])
}

// MakeRows makes the rows of one piece.
func (pass *gridPass[T]) MakeRows(worker, piece int) { pass.collect(&pass.scratch[worker], piece) }

// weigh leaves the basis of a batch of points, from lo on, in scratch.
func (op *Grid) weigh(scratch *gridScratch, lo, m int) (rows, last []float64) {
	t := op.Transfer
	for a := range t.D {
		op.Kernels.LagrangeBasis(scratch.basis[a], op.Place[a][lo:][:m], op.interpolation.Nodes, op.interpolation.Factor)
	}
	last = scratch.basis[t.D-1][:t.P*m]
	switch t.D {
	case 1:
		rows = scratch.rows[:m]
		for i := range rows {
			rows[i] = 1
		}
		return rows, last
	case 2:
		return scratch.basis[0][:t.P*m], last
	}
	rows = append(scratch.rows[:0], scratch.basis[0][:t.P*m]...)
	for _, basis := range scratch.basis[1 : t.D-1] {
		rows = rows[:len(rows)*t.P]
		for r := len(rows)/(t.P*m) - 1; r >= 0; r-- { // from the last on: none is written before it is read
			for b := t.P - 1; b >= 0; b-- {
				product, row, factor := rows[(r*t.P+b)*m:][:m], rows[r*m:][:m], basis[b*m:][:m]
				for i, v := range row {
					product[i] = v * factor[i]
				}
			}
		}
	}
	return rows, last
}

// centred leaves rows lo to hi-1 of x, less the centre, in scratch: columns of m numbers,
// zeros for rows out of the grid and behind the last.
func (pass *gridPass[T]) centred(scratch *gridScratch, lo, hi, m int) {
	x := pass.X
	for c, centre := range pass.centre {
		column := scratch.x[c*m:][:m]
		clear(column[hi-lo:])
		for i := range column[:hi-lo] {
			column[i] = float64(x.Data[(lo+i)*x.Stride+c]) - centre
		}
		if pass.op.Out == nil {
			continue
		}
		for i, out := range pass.op.Out[lo:hi] {
			if out {
				column[i] = 0
			}
		}
	}
}

// spread interpolates the rows of x of a piece to the nodes of their cells.
func (pass *gridPass[T]) spread(scratch *gridScratch, piece *gridPiece) {
	op, size := pass.op, pass.op.Transfer.TileSize()
	if piece.slot >= 0 {
		tiles := pass.slots[piece.slot*pass.K*size:][:pass.K*size]
		clear(tiles)
		pass.spreadRows(scratch, tiles, piece.lo, piece.hi)
		return
	}
	for cell := piece.cell; cell < piece.cell+piece.cells; cell++ {
		clear(scratch.tile)
		pass.spreadRows(scratch, scratch.tile, int(op.Cells.Start[cell]), int(op.Cells.Start[cell+1]))
		pass.store(cell, scratch.tile)
	}
}

// spreadRows adds rows lo to hi-1 of x to the tiles of their cell.
func (pass *gridPass[T]) spreadRows(scratch *gridScratch, tiles []float64, lo, hi int) {
	op, size := pass.op, pass.op.Transfer.TileSize()
	for batch := op.Lattice.Batch(op.Transfer.P); lo < hi; lo += batch {
		n := min(batch, hi-lo)
		m := filled(n)
		rows, last := op.weigh(scratch, lo, m)
		if pass.first {
			op.weighSelf(scratch, lo, n)
		}
		pass.centred(scratch, lo, lo+n, m)
		for c := range pass.K {
			op.Kernels.PointsToNodes(tiles[c*size:][:size], rows, last, scratch.x[c*m:][:m])
		}
	}
}

// store copies tiles to the nodes of a cell.
func (pass *gridPass[T]) store(cell int, tiles []float64) {
	p, base := pass.nodes.P, pass.nodes.Base(cell)
	for c := range pass.K {
		nodes := pass.nodes.In[c*pass.nodes.Nodes+base:]
		for _, at := range pass.runs {
			copy(nodes[at:][:p], tiles)
			tiles = tiles[p:]
		}
	}
}

// load copies the nodes of a cell to tiles.
func (pass *gridPass[T]) load(cell int, tiles []float64) {
	p, base := pass.nodes.P, pass.nodes.Base(cell)
	for c := range pass.K {
		nodes := pass.nodes.In[c*pass.nodes.Nodes+base:]
		for _, at := range pass.runs {
			copy(tiles[:p], nodes[at:])
			tiles = tiles[p:]
		}
	}
}

// joinSlots adds up the tiles of cells that were taken apart, in their order.
func (pass *gridPass[T]) joinSlots() {
	if pass.op.Slots == 0 {
		return
	}
	tiles := pass.scratch[0].tile
	size := len(tiles)
	for at, piece := range pass.op.Pieces {
		if piece.slot < 0 {
			continue
		}
		part := pass.slots[piece.slot*size:][:size]
		if piece.lo == int(pass.op.Cells.Start[piece.cell]) {
			clear(tiles)
		}
		for i, v := range part {
			tiles[i] += v
		}
		if at+1 == len(pass.op.Pieces) || pass.op.Pieces[at+1].cell != piece.cell {
			pass.store(piece.cell, tiles)
		}
	}
}

// collect interpolates from the nodes to the rows of a piece, and finishes them.
func (pass *gridPass[T]) collect(scratch *gridScratch, piece int) {
	op, at := pass.op, &pass.op.Pieces[piece]
	next, _ := slices.BinarySearch(op.Direct.Rows, uint32(at.lo))
	if pass.Stats != nil {
		scratch.sums.Borrow(&pass.Stats.Partials.Chunk[piece])
		defer scratch.sums.GiveBack(&pass.Stats.Partials.Chunk[piece])
	}
	for cell := at.cell; cell < at.cell+at.cells; cell++ {
		lo, hi := max(int(op.Cells.Start[cell]), at.lo), min(int(op.Cells.Start[cell+1]), at.hi)
		if lo >= hi {
			continue
		}
		pass.load(cell, scratch.tile)
		for batch := op.Lattice.Batch(op.Transfer.P); lo < hi; lo += batch {
			next = pass.collectRows(scratch, lo, min(lo+batch, hi), next)
		}
	}
}

// collectRows makes rows lo to hi-1, of one cell, and finishes them. next is the first
// direct row that is not before them; the one behind them is returned.
func (pass *gridPass[T]) collectRows(scratch *gridScratch, lo, hi, next int) int {
	op, size, m := pass.op, pass.op.Transfer.TileSize(), filled(hi-lo)
	rows, last := op.weigh(scratch, lo, m)
	pass.centred(scratch, lo, hi, m)
	for c := range pass.K {
		wx, x := scratch.wx[c*m:][:m], scratch.x[c*m:][:m]
		op.Kernels.NodesToPoints(wx, rows, last, scratch.tile[c*size:][:size], hi-lo)
		for i, self := range op.self[lo:hi] {
			wx[i] -= float64(self * x[i])
		}
	}
	k, product := pass.K, scratch.product[:(hi-lo)*pass.K]
	for c := range k {
		for i, v := range scratch.wx[c*m:][:hi-lo] {
			product[i*k+c] = v
		}
	}
	for i := lo; op.Out != nil && i < hi; i++ {
		row := product[(i-lo)*k:][:k]
		if op.Out[i] {
			clear(row)
		}
		if next < len(op.Direct.Rows) && int(op.Direct.Rows[next]) == i {
			addDirect(&op.Direct, row, next, pass.X, pass.centre)
			next++
		}
	}
	pass.finishRows(product, &scratch.sums, lo, hi)
	return next
}

// finishRows writes rows lo to hi-1 of the product or of the next iterate, given those
// of W (x - centre).
func (pass *gridPass[T]) finishRows(wx []float64, sums *step.Partial, lo, hi int) {
	x, dst := pass.X, pass.Dst
	x.Data, dst.Data = x.Data[lo*x.Stride:], dst.Data[lo*dst.Stride:]
	if pass.Stats == nil {
		for i := range hi - lo {
			out := dst.Row(i)
			for c, v := range wx[i*pass.K:][:pass.K] {
				out[c] = T(v)
			}
		}
		return
	}
	degrees := pass.op.RowSums[lo:hi]
	for i, degree := range degrees {
		row := wx[i*pass.K:][:pass.K]
		for c, m := range pass.centre {
			row[c] += float64(degree * m)
		}
	}
	step.FinishRows(&pass.Stats.Finish, sums, lo, degrees, wx, x, dst)
}
