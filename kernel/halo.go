package kernel

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// A halo is what the rows of weights of one rank need from other ranks: rows of the iterate
// or, where points are equal, sums over equal points. Rows are those of distinct points.
//
// A rank sends what others need, makes the chunks that need nothing from others while rows
// travel, and then the rest. PETSc splits each rank's rows of a matrix into a block of its
// own columns and a block of the others, and adds the products of both. That would round
// the sum of a row in another way than one process does. So here a row stays in one piece,
// and whole chunks stand for the block of own columns.
type halo struct {
	bounds   []int      // first row of each rank, and the end; nil for one process
	received int        // rows that this rank needs from others
	used     bool       // a step exchanges these rows; otherwise it gathers all rows
	ghosts   [][]uint32 // of each rank, the rows that this one needs, ascending
	sent     [][]uint32 // of this rank, the rows that each other one needs, ascending
	interior []int      // chunks of this rank that need no row of others
	boundary []int      // its other chunks
}

// planHalo finds out what ranks need from each other, and decides what a step does: it
// exchanges just that where this is less than half of what gathering all rows would move.
// It reads the rows of weights of this rank alone.
func (op *truncated) planHalo(ctx context.Context) error {
	op.halo = halo{}
	if op.ranks.Alone() {
		return nil
	}
	h, rank, size := &op.halo, op.ranks.Rank(), op.ranks.Size()
	h.bounds = op.pointBounds()
	marks, err := op.markGhosts(ctx)
	if err != nil {
		return err
	}
	h.ghosts = splitMarks(marks, h.bounds)
	needs := make([]int, size*size) // of each rank, from each rank
	for s, ghosts := range h.ghosts {
		needs[rank*size+s] = len(ghosts)
		h.received += len(ghosts)
	}
	bounds := op.ranks.Bounds(size)
	for r := range bounds {
		bounds[r] *= size
	}
	if err := exchange.Gather(ctx, op.ranks, needs, bounds); err != nil {
		return err
	}
	total := 0
	for _, n := range needs {
		total += n
	}
	if h.used = 2*total < (size-1)*op.rows.Rows(); !h.used {
		h.ghosts, h.interior, h.boundary = nil, nil, nil
		return nil
	}
	h.sent = make([][]uint32, size)
	for s := range h.sent {
		h.sent[s] = make([]uint32, needs[s*size+rank])
	}
	wait, err := exchange.Begin(ctx, op.ranks, h.ghosts, h.sent)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// pointBounds returns the first distinct point of each rank, and the end.
func (op *truncated) pointBounds() []int {
	shares := op.chunkShares()
	bounds := make([]int, len(shares))
	for r, chunk := range shares {
		bounds[r] = op.rows.Rows()
		if chunk < op.rows.Chunks() {
			bounds[r], _ = op.rows.Chunk(chunk)
		}
	}
	return bounds
}

// markGhosts returns a bit for each distinct point, set for those of other ranks that the
// weights of this one refer to, and sorts its chunks into interior and boundary.
func (op *truncated) markGhosts(ctx context.Context) ([]uint32, error) {
	h, rank := &op.halo, op.ranks.Rank()
	lo, hi := uint32(h.bounds[rank]), uint32(h.bounds[rank+1])
	from, to := op.ownChunks()
	marks, found := make([]uint32, split.Blocks(op.rows.Rows(), 32)), make([]bool, to-from)
	readers := make([]rowReader, op.workers.Count())
	mark := func(j uint32) {
		// Many rows have the same ghosts, and reading a mark is cheap.
		if word, bit := &marks[j/32], uint32(1)<<(j%32); atomic.LoadUint32(word)&bit == 0 {
			atomic.OrUint32(word, bit)
		}
	}
	err := op.workers.Do(ctx, to-from, par.Func(func(worker, piece int) {
		if readers[worker] == nil {
			readers[worker] = op.rows.reader(1)
		}
		if piece < len(op.spans) && op.spans[piece].Within(lo, hi) || ctx.Err() != nil {
			return
		}
		first, last := op.rows.Chunk(from + piece)
		for g := first; g < last; g++ {
			ind, _ := readers[worker].row(g) // ascending: own columns are in the middle
			for len(ind) > 0 && ind[0] < lo {
				mark(ind[0])
				ind, found[piece] = ind[1:], true
			}
			for len(ind) > 0 && ind[len(ind)-1] >= hi {
				mark(ind[len(ind)-1])
				ind, found[piece] = ind[:len(ind)-1], true
			}
		}
	}))
	if err == nil {
		err = ctx.Err() // a chunk may have been left half done
	}
	for piece, boundary := range found {
		if boundary {
			h.boundary = append(h.boundary, from+piece)
		} else {
			h.interior = append(h.interior, from+piece)
		}
	}
	return marks, err
}

// splitMarks lists the marked rows of each rank, ascending.
func splitMarks(marks []uint32, bounds []int) [][]uint32 {
	lists, rank := make([][]uint32, len(bounds)-1), 0
	for at, word := range marks {
		for ; word != 0; word &= word - 1 {
			row := at*32 + bits.TrailingZeros32(word)
			for row >= bounds[rank+1] {
				rank++
			}
			lists[rank] = append(lists[rank], uint32(row))
		}
	}
	return lists
}

// A transfer carries rows of k columns between ranks, step after step.
type transfer struct {
	*halo
	ranks   *par.Ranks
	k       int
	out, in [][]float32
	wait    func(context.Context) error // for the rows that travel; nil when none do
}

func newTransfer(op *truncated, k int) *transfer {
	t := &transfer{halo: &op.halo, ranks: op.ranks, k: k, out: make([][]float32, len(op.halo.sent)), in: make([][]float32, len(op.halo.ghosts))}
	for s := range t.out {
		t.out[s], t.in[s] = make([]float32, len(t.sent[s])*k), make([]float32, len(t.ghosts[s])*k)
	}
	return t
}

// begin sends the rows of x that others need.
func (t *transfer) begin(ctx context.Context, x []float32, stride int) (err error) {
	for s, list := range t.sent {
		for e, i := range list {
			copy(t.out[s][e*t.k:][:t.k], x[int(i)*stride:])
		}
	}
	t.wait, err = exchange.Begin(ctx, t.ranks, t.out, t.in)
	return err
}

// end waits for the rows that others have sent, and puts them in their places in x.
func (t *transfer) end(ctx context.Context, x []float32, stride int) error {
	wait := t.wait
	t.wait = nil
	if err := wait(ctx); err != nil {
		return err
	}
	for s, list := range t.ghosts {
		for e, i := range list {
			copy(x[int(i)*stride:][:t.k], t.in[s][e*t.k:])
		}
	}
	return nil
}

// Traffic says how many bytes of the iterate a rank receives in a step, by either form of
// exchange. Sums, which are few, are not counted, nor are the moments of poly and the nodes of
// grid, which travel in place of the iterate.
type Traffic struct {
	// Halo is what the rank receives where ranks exchange the rows that their weights refer
	// to; 0 where the operator has no such form.
	Halo int64
	// Gather is what it receives where every rank gets all rows.
	Gather int64
	// Overlapped tells that steps use the first form, and make other rows meanwhile.
	Overlapped bool
}

// TrafficOf returns what this rank receives in a step of k columns in float32.
func TrafficOf(op Operator, k int) Traffic {
	if own, ok := op.(interface{ traffic(k int) Traffic }); ok {
		return own.traffic(k)
	}
	return trafficOfAll(op, k)
}

// trafficOfAll is the traffic of an operator whose steps need all rows.
func trafficOfAll(op Operator, k int) Traffic {
	lo, hi := op.Part()
	return Traffic{Gather: 4 * int64(k) * int64(op.N()-(hi-lo))}
}

func (op *truncated) traffic(k int) Traffic {
	h, rank := &op.halo, op.ranks.Rank()
	if h.bounds == nil {
		return Traffic{}
	}
	others := op.rows.Rows() - (h.bounds[rank+1] - h.bounds[rank])
	return Traffic{Halo: 4 * int64(k) * int64(h.received), Gather: 4 * int64(k) * int64(others), Overlapped: h.used}
}
