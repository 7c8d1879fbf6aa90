package rows

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

const (
	// A piece of work has about mirrorEntries entries, few enough to be written in any
	// order. One worker alone splits its work into at most mirrorPieces pieces.
	mirrorEntries = 1 << 17
	mirrorPieces  = 16
)

// Mirror makes a symmetric matrix of its upper half, whose rows come in runs. lower is
// the number of entries of each column of the half, and held is the number of bytes that
// are taken already.
//
// Row j of the result is column j of the half, from the first row on, and then row j of
// the half. So a worker that makes some rows of the result reads all rows of the half up
// to the last of them.
func (r *Request) Mirror(ctx context.Context, half []sparse.Rows, lower []uint32, held int64) (*sparse.CSR, error) {
	n := len(lower)
	a, err := r.Allocate(ctx, mirrorCounts(half, lower), held)
	if err != nil {
		return nil, err
	}
	next := slices.Clone(a.Ptr[:n])
	size := mirrorSize(n, len(a.Ind), r.Workers.Count())
	if err := r.Workers.Do(ctx, split.Blocks(n, size), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, size)
		mirrorRows(a, next, half, lo, hi)
	})); err != nil {
		return nil, err
	}
	return r.Adopt(ctx, n, a)
}

// mirrorCounts returns the number of entries of row i of the whole matrix at i+1.
func mirrorCounts(half []sparse.Rows, lower []uint32) []uint64 {
	counts := make([]uint64, len(lower)+1)
	row := 0
	for _, run := range half {
		for i := range len(run.Ptr) - 1 {
			counts[row+1] = run.Ptr[i+1] - run.Ptr[i] + uint64(lower[row])
			row++
		}
	}
	return counts
}

// mirrorSize returns how many of n rows a piece of work makes. There are as many pieces
// as make the rows of a piece about fit a cache, and no more: every piece reads the half
// up to its own end. A row has the same entries whatever piece it is in, so the matrix
// does not depend on the split.
func mirrorSize(n, entries, workers int) int {
	pieces := min(1+entries/mirrorEntries, mirrorPieces)
	if workers > 1 {
		pieces = max(pieces, 4*workers)
	}
	return max((n+pieces-1)/pieces, 1)
}

// mirrorRows makes the rows lo to hi-1 of the whole matrix. next is where the next entry
// of each row goes. Each row of the half is read from its first column that is one of the
// rows to make.
func mirrorRows(a Arrays, next []uint64, half []sparse.Rows, lo, hi int) {
	ind, val := a.Ind, a.Val
	row := 0
	for _, run := range half {
		for e := range len(run.Ptr) - 1 {
			from, to := run.Ptr[e], run.Ptr[e+1]
			columns, values := run.Ind[from:to], run.Val[from:to]
			at := 0
			if len(columns) > 0 && columns[0] < uint32(lo) {
				at, _ = slices.BinarySearch(columns, uint32(lo))
			}
			for ; at < len(columns) && columns[at] < uint32(hi); at++ {
				j := columns[at]
				ind[next[j]], val[next[j]] = uint32(row), values[at]
				next[j]++
			}
			if row >= lo { // one to make: all its columns before the diagonal are there, and the row of the half follows
				copy(ind[next[row]:], columns)
				copy(val[next[row]:], values)
			}
			if row++; row >= hi {
				return
			}
		}
	}
}
