package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/par"
)

// A gridPiece is a run of sorted points that one worker spreads and finishes: those
// of some cells, or some of those of a crowded one.
type gridPiece struct {
	cell, cells int // the first cell, and how many there are
	lo, hi      int // points
	slot        int // of the sums of some points of a cell; -1 for whole cells
}

const (
	gridPiecePoints = 1024 // cells are put together up to so many points
	gridPieceCells  = 1024 // and up to so many cells
	gridMostPoints  = 4096 // and taken apart above so many points
)

// cutPieces cuts sorted points into pieces, and counts the slots.
func cutPieces(cells *cellOrder) (pieces []gridPiece, slots int) {
	for cell := 0; cell < cells.count(); {
		at, lo := cell, int(cells.start[cell])
		for cell++; cell < cells.count() && cell-at < gridPieceCells && int(cells.start[cell+1])-lo <= gridPiecePoints; cell++ {
		}
		hi := int(cells.start[cell])
		parts := 1
		if cell == at+1 {
			parts = max(par.Blocks(hi-lo, gridMostPoints), 1)
		}
		for part := range parts {
			piece := gridPiece{cell: at, cells: cell - at, lo: lo + (hi-lo)*part/parts, hi: lo + (hi-lo)*(part+1)/parts, slot: -1}
			if parts > 1 {
				piece.slot, slots = slots, slots+1
			}
			pieces = append(pieces, piece)
		}
	}
	return pieces, slots
}

// gridPass is the state of one product of grid; it is reused from step to step.
type gridPass[T float] struct {
	op     *Grid
	k      int
	nodes  *transferPass
	runs   []int     // of a tile among the nodes
	slots  []float64 // tiles of parts of cells
	room   []gridRoom
	centre []float64 // is subtracted from the rows of x and comes back behind the product

	x, dst    block[T]
	stats     *Stats // nil: dst = W x
	spreading bool
	first     bool // the weights of points and themselves are to be made
}

// gridRoom is the scratch memory of a worker.
type gridRoom struct {
	basis [latticeAxes][]float64
	rows  []float64 // products of the basis along all axes but the last
	tile  []float64 // k tiles
	wx    []float64 // a row of k
	sums  partial   // of the piece at hand
}

func newGridPass[T float](op *Grid, k int) *gridPass[T] {
	t := op.transfer
	workers := op.set.Workers()
	pass := &gridPass[T]{
		op: op, k: k, nodes: newTransferPass(t, k, workers), runs: t.runs(),
		slots: make([]float64, op.slots*k*t.tileSize()), room: make([]gridRoom, workers), centre: make([]float64, k),
	}
	for w := range pass.room {
		pass.room[w] = newGridRoom(t, k)
	}
	return pass
}

// newGridRoom takes one piece of memory, with a gap on either side: workers write
// these numbers all the time and must not share a cache line.
func newGridRoom(t *transfer, k int) (room gridRoom) {
	const gap = 16
	rows := t.tileSize() / t.p
	memory := make([]float64, gap+t.d*t.p+rows+k*t.tileSize()+k+gap)[gap:]
	take := func(n int) []float64 {
		part := memory[:n:n]
		memory = memory[n:]
		return part
	}
	for a := range t.d {
		room.basis[a] = take(t.p)
	}
	room.rows, room.tile, room.wx = take(rows), take(k*t.tileSize()), take(k)
	return room
}

// grow makes room for the classes of any piece, so that no later step allocates.
func (pass *gridPass[T]) grow(ps *partials) {
	most := 0
	for i := range ps.chunk {
		most = max(most, len(ps.chunk[i].class))
	}
	const gap = 16
	for i := range pass.room {
		if sums := &pass.room[i].sums; cap(sums.class) < most {
			memory := make([]float64, gap+pass.k+most+gap)[gap:]
			sums.sums, sums.class = memory[:pass.k:pass.k], memory[pass.k:][:most:most]
		}
	}
}

// run makes dst = W x, or the step that st has begun.
func (pass *gridPass[T]) run(ctx context.Context, dst, x block[T], st *Stats) error {
	pass.x, pass.dst, pass.stats = x, dst, st
	clear(pass.centre)
	if st != nil {
		// Sums of differences from the mean are as small as the iterate is, and so
		// are their roundings.
		copy(pass.centre, st.finish.mean)
	}
	err := pass.multiply(ctx)
	pass.x, pass.dst, pass.stats = block[T]{}, block[T]{}, nil
	if err != nil {
		return fmt.Errorf("kernel: grid: %w", err)
	}
	return nil
}

func (pass *gridPass[T]) multiply(ctx context.Context) error {
	op := pass.op
	pass.spreading = true
	if err := op.set.Do(ctx, len(op.pieces), pass); err != nil {
		return err
	}
	pass.spreading = false
	pass.joinSlots()
	if err := pass.nodes.run(ctx, op.set); err != nil {
		return err
	}
	return op.set.Do(ctx, len(op.pieces), pass)
}

// Run does one piece.
func (pass *gridPass[T]) Run(worker, piece int) {
	if pass.spreading {
		pass.spread(&pass.room[worker], &pass.op.pieces[piece])
		return
	}
	pass.collect(&pass.room[worker], piece)
}

// weigh leaves the basis of point i in room.
func (op *Grid) weigh(room *gridRoom, i int) (rows, last []float64) {
	t := op.transfer
	for a, place := range op.place[i*t.d:][:t.d] {
		op.interpolation.basis(room.basis[a], place)
	}
	last = room.basis[t.d-1]
	switch t.d {
	case 1:
		room.rows[0] = 1
		return room.rows, last
	case 2:
		return room.basis[0], last
	}
	rows = append(room.rows[:0], room.basis[0]...)
	for _, basis := range room.basis[1 : t.d-1] {
		rows = rows[:len(rows)*t.p]
		for r := len(rows)/t.p - 1; r >= 0; r-- { // from the last on: none is written before it is read
			v := rows[r]
			for b, l := range basis {
				rows[r*t.p+b] = v * l
			}
		}
	}
	return rows, last
}

// spread interpolates the rows of x of a piece to the nodes of their cells.
func (pass *gridPass[T]) spread(room *gridRoom, piece *gridPiece) {
	op, size := pass.op, pass.op.transfer.tileSize()
	if piece.slot >= 0 {
		tiles := pass.slots[piece.slot*pass.k*size:][:pass.k*size]
		clear(tiles)
		pass.spreadRows(room, tiles, piece.lo, piece.hi)
		return
	}
	for cell := piece.cell; cell < piece.cell+piece.cells; cell++ {
		clear(room.tile)
		pass.spreadRows(room, room.tile, int(op.cells.start[cell]), int(op.cells.start[cell+1]))
		pass.store(cell, room.tile)
	}
}

// spreadRows adds rows lo to hi-1 of x to the tiles of their cell.
func (pass *gridPass[T]) spreadRows(room *gridRoom, tiles []float64, lo, hi int) {
	op := pass.op
	size, p := op.transfer.tileSize(), op.transfer.p
	for i := lo; i < hi; i++ {
		if op.outside(i) {
			continue
		}
		rows, last := op.weigh(room, i)
		if pass.first {
			op.self[i] = op.selfWeight(room)
		}
		for c, v := range pass.x.row(i) {
			centred := float64(v) - pass.centre[c]
			tile := tiles[c*size:][:size]
			for _, w := range rows {
				addScaled(tile[:p], w*centred, last)
				tile = tile[p:]
			}
		}
	}
}

// store copies tiles to the nodes of a cell.
func (pass *gridPass[T]) store(cell int, tiles []float64) {
	p, base := pass.nodes.p, pass.nodes.base(cell)
	for c := range pass.k {
		nodes := pass.nodes.in[c*pass.nodes.nodes+base:]
		for _, at := range pass.runs {
			copy(nodes[at:][:p], tiles)
			tiles = tiles[p:]
		}
	}
}

// load copies the nodes of a cell to tiles.
func (pass *gridPass[T]) load(cell int, tiles []float64) {
	p, base := pass.nodes.p, pass.nodes.base(cell)
	for c := range pass.k {
		nodes := pass.nodes.in[c*pass.nodes.nodes+base:]
		for _, at := range pass.runs {
			copy(tiles[:p], nodes[at:])
			tiles = tiles[p:]
		}
	}
}

// joinSlots adds up the tiles of cells that were taken apart, in their order.
func (pass *gridPass[T]) joinSlots() {
	if pass.op.slots == 0 {
		return
	}
	tiles := pass.room[0].tile
	size := len(tiles)
	for at, piece := range pass.op.pieces {
		if piece.slot < 0 {
			continue
		}
		part := pass.slots[piece.slot*size:][:size]
		if piece.lo == int(pass.op.cells.start[piece.cell]) {
			clear(tiles)
		}
		addScaled(tiles, 1, part)
		if at+1 == len(pass.op.pieces) || pass.op.pieces[at+1].cell != piece.cell {
			pass.store(piece.cell, tiles)
		}
	}
}

// collect interpolates from the nodes to the rows of a piece, and finishes them.
func (pass *gridPass[T]) collect(room *gridRoom, piece int) {
	op, at := pass.op, &pass.op.pieces[piece]
	next, _ := slices.BinarySearch(op.direct.rows, uint32(at.lo))
	if pass.stats != nil {
		room.sums.borrow(&pass.stats.partials.chunk[piece])
		defer room.sums.giveBack(&pass.stats.partials.chunk[piece])
	}
	for cell := at.cell; cell < at.cell+at.cells; cell++ {
		lo, hi := max(int(op.cells.start[cell]), at.lo), min(int(op.cells.start[cell+1]), at.hi)
		if lo >= hi {
			continue
		}
		pass.load(cell, room.tile)
		for i := lo; i < hi; i++ {
			clear(room.wx)
			if !op.outside(i) {
				pass.collectRow(room, i)
			}
			if next < len(op.direct.rows) && int(op.direct.rows[next]) == i {
				addDirect(&op.direct, room.wx, next, pass.x, pass.centre)
				next++
			}
			pass.finishRow(room, i)
		}
	}
}

// collectRow leaves row i of W (x - centre), the weights in the grid, in room.wx.
func (pass *gridPass[T]) collectRow(room *gridRoom, i int) {
	op := pass.op
	size, p := op.transfer.tileSize(), op.transfer.p
	rows, last := op.weigh(room, i)
	for c, v := range pass.x.row(i) {
		tile := room.tile[c*size:][:size]
		sum := 0.0
		for _, w := range rows {
			inner := 0.0
			for b, l := range last {
				inner += float64(l * tile[b])
			}
			sum += float64(w * inner)
			tile = tile[p:]
		}
		room.wx[c] = sum - float64(op.self[i]*(float64(v)-pass.centre[c]))
	}
}

// finishRow writes row i of the product or of the next iterate.
func (pass *gridPass[T]) finishRow(room *gridRoom, i int) {
	op, out := pass.op, pass.dst.row(i)
	degree := op.degrees[i]
	if pass.stats == nil {
		for c, v := range room.wx {
			out[c] = T(v)
		}
		return
	}
	for c, m := range pass.centre {
		room.wx[c] += float64(degree * m)
	}
	finishRow(&pass.stats.finish, &room.sums, i, degree, room.wx, pass.x.row(i), out)
}
