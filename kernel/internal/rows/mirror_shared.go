package rows

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A Half is the upper half of a symmetric matrix whose rows come in runs. Ranks have found
// some runs each.
type Half struct {
	Runs  []sparse.Rows          // of other ranks they are empty
	Start []int                  // first row of each run, and the end
	Rank  func(run int) int      // which rank has found a run
	Lower []uint32               // entries of each column, in the runs of this rank
	Held  func(more int64) int64 // bytes taken once more bytes are
}

// MirrorShared is Mirror for ranks that share the half. Each makes the rows of some chunks of
// the whole matrix, which are the chunks that one process would have. Entries travel to the
// ranks that make their rows, around a ring: in round s a rank sends to the rank s places on,
// and receives from the one s places back. A row is mirrored from the same runs in the same
// order as in one process, so it has the same bits.
func (r *Request) MirrorShared(ctx context.Context, h *Half) (*sparse.CSR, error) {
	ranks := r.Sharing()
	counts, err := h.rowCounts(ctx, ranks)
	if err != nil {
		return nil, err
	}
	n := len(counts)
	ptr := make([]uint64, n+1)
	for i, count := range counts {
		ptr[i+1] = ptr[i] + uint64(count)
	}
	chunks := split.Chunks(ptr)
	bounds := ranks.Bounds(len(chunks) - 1)
	first, last := bounds[ranks.Rank()], bounds[ranks.Rank()+1] // chunks
	for s, chunk := range bounds {
		bounds[s] = chunks[chunk]
	}
	lo, hi := chunks[first], chunks[last]
	lengths, err := h.lengths(ctx, ranks, bounds)
	if err != nil {
		return nil, err
	}
	received, sent := int64(0), int64(0)
	for s := range ranks.Size() {
		received += int64(lengths[s*ranks.Size()+ranks.Rank()]) * EntryBytes
		sent = max(sent, int64(lengths[ranks.Rank()*ranks.Size()+s])*EntryBytes) // to one rank at a time
	}
	own := make([]uint64, hi-lo+1)
	for i := range hi - lo {
		own[i+1] = uint64(counts[lo+i])
	}
	if err := r.Take(ctx, "", h.Held(received+sent)); err != nil {
		return nil, err
	}
	if err := h.travel(ctx, ranks, bounds, lengths); err != nil {
		return nil, err
	}
	a, err := r.Allocate(ctx, own, h.Held(received))
	if err != nil {
		return nil, err
	}
	next := make([]uint64, hi) // by row, as mirrorRows has it
	copy(next[lo:], a.Ptr)
	size := mirrorSize(hi-lo, len(a.Ind), r.Workers.Count())
	if err := r.Workers.Do(ctx, split.Blocks(hi-lo, size), par.Func(func(_, piece int) {
		from, to := split.Block(piece, hi-lo, size)
		mirrorRows(a, next, h.Runs, lo+from, lo+to)
	})); err != nil {
		return nil, err
	}
	pieces := make([]sparse.Rows, last-first)
	for c := range pieces {
		p := slices.Clone(a.Ptr[chunks[first+c]-lo : chunks[first+c+1]-lo+1])
		from, to := p[0], p[len(p)-1]
		for i := range p {
			p[i] -= from
		}
		pieces[c] = sparse.Rows{Ptr: p, Ind: a.Ind[from:to:to], Val: a.Val[from:to:to]}
	}
	return sparse.AdoptShared(ctx, r.Workers, ranks, r.Layout, n, pieces)
}

// rowCounts returns the number of entries of each row of the whole matrix. Each rank adds up
// what all have counted of some rows.
func (h *Half) rowCounts(ctx context.Context, ranks *par.Ranks) ([]uint32, error) {
	counts := h.Lower
	h.each(ranks.Rank(), func(run, row int, ptr []uint64) { counts[row] += uint32(ptr[1] - ptr[0]) })
	bounds := ranks.Bounds(len(counts))
	own := counts[bounds[ranks.Rank()]:bounds[ranks.Rank()+1]]
	out, in := make([][]uint32, ranks.Size()), make([][]uint32, ranks.Size())
	for s := range out {
		if s != ranks.Rank() {
			out[s], in[s] = counts[bounds[s]:bounds[s+1]], make([]uint32, len(own))
		}
	}
	wait, err := exchange.Begin(ctx, ranks, out, in)
	if err != nil {
		return nil, err
	}
	if err := wait(ctx); err != nil {
		return nil, err
	}
	for _, others := range in {
		for i, count := range others {
			own[i] += count
		}
	}
	return counts, exchange.Gather(ctx, ranks, counts, bounds)
}

// each calls do for the rows of the runs that a rank has found, in order, with the two row
// pointers of the row; none where the runs are not here.
func (h *Half) each(rank int, do func(run, row int, ptr []uint64)) {
	for run, rows := range h.Runs {
		if h.Rank(run) != rank {
			continue
		}
		for i := range h.Start[run+1] - h.Start[run] {
			var ptr []uint64
			if rows.Ptr != nil {
				ptr = rows.Ptr[i : i+2]
			}
			do(run, h.Start[run]+i, ptr)
		}
	}
}

// lengths returns how many entries each rank, in the order of the ranks, sends to each, which
// makes the rows that begin at the given bounds.
func (h *Half) lengths(ctx context.Context, ranks *par.Ranks, bounds []int) ([]int, error) {
	rank, size := ranks.Rank(), ranks.Size()
	lengths := make([]int, size*size)
	for s := range size {
		if s != rank {
			h.each(rank, func(run, row int, ptr []uint64) {
				from, to := h.wanted(run, row, ptr, bounds[s], bounds[s+1])
				lengths[rank*size+s] += int(to - from)
			})
		}
	}
	return lengths, exchange.Gather(ctx, ranks, lengths, ranks.Bounds(len(lengths)))
}

// travel gives each rank what it needs of the runs of others to make its rows, which begin at
// the given bounds.
func (h *Half) travel(ctx context.Context, ranks *par.Ranks, bounds, lengths []int) error {
	rank, size := ranks.Rank(), ranks.Size()
	for round := 1; round < size; round++ {
		to, from := (rank+round)%size, (rank+size-round)%size
		if err := h.exchange(ctx, ranks, bounds, to, from, lengths[rank*size+to], lengths[from*size+rank]); err != nil {
			return err
		}
	}
	return nil
}

// wanted returns the range of the entries of a row of a run that the rank needs that makes the
// rows lo to hi-1: all entries of its own rows, and of others those in its columns.
func (h *Half) wanted(run, row int, ptr []uint64, lo, hi int) (from, to uint64) {
	if row >= lo && row < hi {
		return ptr[0], ptr[1]
	}
	columns := h.Runs[run].Ind[ptr[0]:ptr[1]]
	begin, _ := slices.BinarySearch(columns, uint32(lo))
	end, _ := slices.BinarySearch(columns, uint32(hi))
	return ptr[0] + uint64(begin), ptr[0] + uint64(end)
}

// exchange sends entries to one rank and takes those of another into the runs that that one
// has found.
func (h *Half) exchange(ctx context.Context, ranks *par.Ranks, bounds []int, to, from, sent, received int) error {
	rowsOf := func(rank int) (rows int) {
		h.each(rank, func(int, int, []uint64) { rows++ })
		return rows
	}
	counts, ind, val := make([]uint32, 0, rowsOf(ranks.Rank())), make([]uint32, 0, sent), make([]float32, 0, sent)
	h.each(ranks.Rank(), func(run, row int, ptr []uint64) {
		begin, end := h.wanted(run, row, ptr, bounds[to], bounds[to+1])
		counts = append(counts, uint32(end-begin))
		ind, val = append(ind, h.Runs[run].Ind[begin:end]...), append(val, h.Runs[run].Val[begin:end]...)
	})
	theirCounts, err := swap(ctx, ranks, to, from, counts, rowsOf(from))
	if err != nil {
		return err
	}
	theirInd, err := swap(ctx, ranks, to, from, ind, received)
	if err != nil {
		return err
	}
	theirVal, err := swap(ctx, ranks, to, from, val, received)
	if err != nil {
		return err
	}
	h.each(from, func(run, row int, _ []uint64) {
		rows := &h.Runs[run]
		if rows.Ptr == nil {
			*rows = sparse.Rows{Ptr: make([]uint64, 1, h.Start[run+1]-h.Start[run]+1), Ind: theirInd, Val: theirVal}
		}
		count := theirCounts[0]
		theirCounts = theirCounts[1:]
		rows.Ptr = append(rows.Ptr, rows.Ptr[len(rows.Ptr)-1]+uint64(count))
		theirInd, theirVal = theirInd[count:], theirVal[count:]
	})
	return nil
}

// swap sends words to one rank and receives as many from another as it is told.
func swap[T exchange.Word](ctx context.Context, ranks *par.Ranks, to, from int, words []T, received int) ([]T, error) {
	out, in := make([][]T, ranks.Size()), make([][]T, ranks.Size())
	out[to], in[from] = words, make([]T, received)
	wait, err := exchange.Begin(ctx, ranks, out, in)
	if err != nil {
		return nil, err
	}
	return in[from], wait(ctx)
}
