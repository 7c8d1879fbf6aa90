package sparse

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/par"
)

// A share says which rows of a matrix this rank has. Chunks of rows on other ranks have
// no arrays.
type share struct {
	ranks  *par.Ranks
	chunks []int // first chunk of each rank, and the end
	own    int   // entries of the rows that are here
	// The bytes that all ranks hold together.
	size, streamed int64
}

// AdoptShared is Adopt for builders that make a matrix in several pieces, which are not copied,
// and for ranks that share a matrix: each passes the pieces of its own rows, which follow those
// of the rank before it. Each piece is a chunk of work. The matrix has the shape and the chunks of
// the whole, and NNZ, Size and Streamed refer to the whole. Row, MulRows and SumRows work on
// the rows that are here, which OwnRows returns; they panic for any other row. Methods that
// need all rows return ErrShared or, where they return no error, panic. All ranks call
// AdoptShared together. nil stands for a single process.
func AdoptShared(ctx context.Context, workers *par.Workers, ranks *par.Ranks, layout Layout, cols int, pieces []Rows) (*CSR, error) {
	if ranks.Alone() {
		return adoptRows(ctx, workers, layout, cols, pieces)
	}
	own := 0
	for _, r := range pieces {
		own += int(r.Ptr[len(r.Ptr)-1])
	}
	counts, err := exchange.GatherEqual(ctx, ranks, []int{len(pieces), own})
	if err != nil {
		return nil, err
	}
	a := &CSR{cols: cols, layout: Plain}
	chunks := make([]int, ranks.Size()+1)
	for r := range ranks.Size() {
		chunks[r+1] = chunks[r] + counts[2*r]
		a.nnz += counts[2*r+1]
	}
	from := chunks[ranks.Rank()]
	sizes := make([]int, chunks[ranks.Size()])
	for c, r := range pieces {
		sizes[from+c] = len(r.Ptr) - 1
	}
	if err := exchange.Gather(ctx, ranks, sizes, chunks); err != nil {
		return nil, err
	}
	a.parts = make([]part, len(sizes))
	for c, size := range sizes {
		a.parts[c] = part{lo: a.rows, hi: a.rows + size}
		if c >= from && c < from+len(pieces) {
			r := pieces[c-from]
			a.parts[c].ptr, a.parts[c].ind, a.parts[c].val = r.Ptr, r.Ind, r.Val
		}
		a.rows += size
	}
	all, _ := Plain.Bytes(a.rows, uint64(a.nnz))
	a.share = &share{ranks: ranks, chunks: chunks, own: own, size: all, streamed: all}
	return a.Convert(ctx, workers, layout)
}

// weigh sets the memory of the matrix on all ranks together.
func (s *share) weigh(ctx context.Context, a *CSR) error {
	size, streamed := int64(0), int64(0)
	for c := range a.parts {
		if p := &a.parts[c]; p.here() {
			size, streamed = size+p.size(), streamed+p.streamed()
		}
	}
	all, err := exchange.GatherEqual(ctx, s.ranks, []int64{size, streamed})
	if err != nil {
		return err
	}
	s.size, s.streamed = 8, 8
	for r := 0; r < len(all); r += 2 {
		s.size, s.streamed = s.size+all[r], s.streamed+all[r+1]
	}
	return nil
}

// here reports whether the rows of the part are here.
func (p *part) here() bool { return p.ptr != nil }

// stored returns how many entries are here.
func (a *CSR) stored() int {
	if a.share != nil {
		return a.share.own
	}
	return a.nnz
}

// Shared reports whether some rows may be with other ranks.
func (a *CSR) Shared() bool { return a.share != nil }

// RankChunks returns the first chunk of each rank, and the end; nil where all rows are here.
func (a *CSR) RankChunks() []int {
	if a.share == nil {
		return nil
	}
	return a.share.chunks
}

// OwnRows returns the rows that are here, lo to hi-1.
func (a *CSR) OwnRows() (lo, hi int) {
	if a.share == nil {
		return 0, a.rows
	}
	bounds := a.rankRows()
	return bounds[a.share.ranks.Rank()], bounds[a.share.ranks.Rank()+1]
}

// rankRows returns the first row of each rank, and the end; nil where all rows are here.
func (a *CSR) rankRows() []int {
	if a.share == nil {
		return nil
	}
	bounds := make([]int, len(a.share.chunks))
	for r, chunk := range a.share.chunks {
		bounds[r] = a.rows
		if chunk < len(a.parts) {
			bounds[r] = a.parts[chunk].lo
		}
	}
	return bounds
}

// sum returns the sum over all ranks of a number that each has.
func (s *share) sum(ctx context.Context, own int64) (sum int64, err error) {
	if s == nil {
		return own, nil
	}
	all, err := exchange.GatherEqual(ctx, s.ranks, []int64{own})
	for _, n := range all {
		sum += n
	}
	return sum, err
}

// Whole returns the matrix with all its rows, in layout Plain. All ranks call it together.
// Where rows are with other ranks it takes 8 bytes an entry and 8 a row.
func (a *CSR) Whole(ctx context.Context) (*CSR, error) {
	if a.share == nil {
		return a, nil
	}
	ranks, bounds := a.share.ranks, a.rankRows()
	counts, ptr := make([]uint32, a.rows), make([]uint64, a.rows+1)
	lo, hi := a.OwnRows()
	for i := lo; i < hi; i++ {
		counts[i] = uint32(a.RowLen(i))
	}
	if err := exchange.Gather(ctx, ranks, counts, bounds); err != nil {
		return nil, err
	}
	for i, n := range counts {
		ptr[i+1] = ptr[i] + uint64(n)
	}
	ind, val := make([]uint32, a.nnz), make([]float32, a.nnz)
	mem.Huge(ind)
	mem.Huge(val)
	var buffer RowBuffer
	for i := lo; i < hi; i++ {
		columns, values := a.Row(i, &buffer)
		copy(ind[ptr[i]:], columns)
		copy(val[ptr[i]:], values)
	}
	for r, row := range bounds {
		bounds[r] = int(ptr[row])
	}
	if err := exchange.Gather(ctx, ranks, ind, bounds); err != nil {
		return nil, err
	}
	if err := exchange.Gather(ctx, ranks, val, bounds); err != nil {
		return nil, err
	}
	return whole(a.rows, a.cols, ptr, ind, val), nil
}

// refuseElsewhere panics for a row that is with another rank.
func (p *part) refuseElsewhere(i int) {
	if !p.here() {
		panic(fmt.Sprintf("sparse: row %d is with another rank", i+1))
	}
}
