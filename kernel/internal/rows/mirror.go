package rows

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

const (
	// mirrorEntries are few enough to be written in any order.
	mirrorEntries = 1 << 17
	mirrorPieces  = 16
)

// Mirror makes a symmetric matrix of its upper half, whose rows come in pieces. lower
// holds the number of entries of each column of the half, and held is the memory taken
// already.
//
// Row j of the result is column j of the half, from the first row on, and then row
// j. So a worker that makes some rows of the result reads all rows of the half before
// their end, each from the first of its columns that is one of them.
func (r *Request) Mirror(ctx context.Context, half []sparse.Rows, lower []uint32, held int64) (*sparse.CSR, error) {
	n := len(lower)
	counts := make([]uint64, n+1)
	row := 0
	for _, run := range half {
		for i := range len(run.Ptr) - 1 {
			counts[row+1] = run.Ptr[i+1] - run.Ptr[i] + uint64(lower[row])
			row++
		}
	}
	a, err := r.Allocate(ctx, counts, held)
	if err != nil {
		return nil, err
	}
	ind, val, next := a.Ind, a.Val, slices.Clone(a.Ptr[:n])
	// As many pieces as make the rows of a piece about fit a cache, and no more: every
	// piece reads the half up to its own end. A row has the same entries whatever piece it
	// is in, so the matrix does not depend on the cut.
	pieces := min(1+len(ind)/mirrorEntries, mirrorPieces)
	if workers := r.Workers.Count(); workers > 1 {
		pieces = max(pieces, 4*workers)
	}
	size := max((n+pieces-1)/pieces, 1)
	if err := r.Workers.Do(ctx, par.Blocks(n, size), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, n, size)
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
				if row >= lo { // of this piece: all columns before the diagonal are there, and its own entries follow
					copy(ind[next[row]:], columns)
					copy(val[next[row]:], values)
				}
				if row++; row >= hi {
					return
				}
			}
		}
	})); err != nil {
		return nil, err
	}
	return r.Adopt(ctx, n, a)
}
