package truncated

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
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
	Bounds   []int      // first row of each rank, and the end; nil for one process
	Received int        // rows that this rank needs from others
	Used     bool       // a step exchanges these rows; otherwise it gathers all rows
	Ghosts   [][]uint32 // of each rank, the rows that this one needs, ascending
	Sent     [][]uint32 // of this rank, the rows that each other one needs, ascending
	Interior []int      // chunks of this rank that need no row of others
	Boundary []int      // its other chunks
}

// PlanHalo finds out what ranks need from each other, and decides what a step does: it
// exchanges just that where this is less than half of what gathering all rows would move.
// It reads the rows of weights of this rank alone.
func (op *Truncated) PlanHalo(ctx context.Context) error {
	op.Halo = halo{}
	if op.Ranks.Alone() {
		return nil
	}
	h, rank, size := &op.Halo, op.Ranks.Rank(), op.Ranks.Size()
	h.Bounds = op.PointBounds()
	marks, err := op.markGhosts(ctx)
	if err != nil {
		return err
	}
	h.Ghosts = splitMarks(marks, h.Bounds)
	needs := make([]int, size*size) // of each rank, from each rank
	for s, ghosts := range h.Ghosts {
		needs[rank*size+s] = len(ghosts)
		h.Received += len(ghosts)
	}
	bounds := op.Ranks.Bounds(size)
	for r := range bounds {
		bounds[r] *= size
	}
	if err := exchange.Gather(ctx, op.Ranks, needs, bounds); err != nil {
		return err
	}
	total := 0
	for _, n := range needs {
		total += n
	}
	if h.Used = 2*total < (size-1)*op.Rows.Rows(); !h.Used {
		h.Ghosts, h.Interior, h.Boundary = nil, nil, nil
		return nil
	}
	h.Sent = make([][]uint32, size)
	for s := range h.Sent {
		h.Sent[s] = make([]uint32, needs[s*size+rank])
	}
	wait, err := exchange.Begin(ctx, op.Ranks, h.Ghosts, h.Sent)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// PointBounds returns the first distinct point of each rank, and the end.
func (op *Truncated) PointBounds() []int {
	shares := op.ChunkShares()
	bounds := make([]int, len(shares))
	for r, chunk := range shares {
		bounds[r] = op.Rows.Rows()
		if chunk < op.Rows.Chunks() {
			bounds[r], _ = op.Rows.Chunk(chunk)
		}
	}
	return bounds
}

// markGhosts returns a bit for each distinct point, set for those of other ranks that the
// weights of this one refer to, and sorts its chunks into interior and boundary.
func (op *Truncated) markGhosts(ctx context.Context) ([]uint32, error) {
	h, rank := &op.Halo, op.Ranks.Rank()
	lo, hi := uint32(h.Bounds[rank]), uint32(h.Bounds[rank+1])
	from, to := op.OwnChunks()
	marks, found := make([]uint32, split.Blocks(op.Rows.Rows(), 32)), make([]bool, to-from)
	readers := make([]graph.RowReader, op.Workers.Count())
	mark := func(j uint32) {
		// Many rows have the same ghosts, and reading a mark is cheap.
		if word, bit := &marks[j/32], uint32(1)<<(j%32); atomic.LoadUint32(word)&bit == 0 {
			atomic.OrUint32(word, bit)
		}
	}
	err := op.Workers.Do(ctx, to-from, par.Func(func(worker, piece int) {
		if readers[worker] == nil {
			readers[worker] = op.Rows.Reader(1)
		}
		if piece < len(op.Spans) && op.Spans[piece].Within(lo, hi) || ctx.Err() != nil {
			return
		}
		first, last := op.Rows.Chunk(from + piece)
		for g := first; g < last; g++ {
			ind, _ := readers[worker].Weights(g) // ascending: own columns are in the middle
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
			h.Boundary = append(h.Boundary, from+piece)
		} else {
			h.Interior = append(h.Interior, from+piece)
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

func newTransfer(op *Truncated, k int) *transfer {
	t := &transfer{halo: &op.Halo, ranks: op.Ranks, k: k, out: make([][]float32, len(op.Halo.Sent)), in: make([][]float32, len(op.Halo.Ghosts))}
	for s := range t.out {
		t.out[s], t.in[s] = make([]float32, len(t.Sent[s])*k), make([]float32, len(t.Ghosts[s])*k)
	}
	return t
}

// begin sends the rows of x that others need.
func (t *transfer) begin(ctx context.Context, x []float32, stride int) (err error) {
	for s, list := range t.Sent {
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
	for s, list := range t.Ghosts {
		for e, i := range list {
			copy(x[int(i)*stride:][:t.k], t.in[s][e*t.k:])
		}
	}
	return nil
}

// Traffic returns what this rank receives in a step of k columns in float32.
func (op *Truncated) Traffic(k int) graphstats.Traffic {
	h, rank := &op.Halo, op.Ranks.Rank()
	if h.Bounds == nil {
		return graphstats.Traffic{}
	}
	others := op.Rows.Rows() - (h.Bounds[rank+1] - h.Bounds[rank])
	return graphstats.Traffic{Halo: 4 * int64(k) * int64(h.Received), Gather: 4 * int64(k) * int64(others), Overlapped: h.Used}
}
