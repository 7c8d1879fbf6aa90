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
	mirrorBlocks  = 16
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
	for _, piece := range half {
		for i := range len(piece.Ptr) - 1 {
			counts[row+1] = piece.Ptr[i+1] - piece.Ptr[i] + uint64(lower[row])
			row++
		}
	}
	a, err := r.Allocate(ctx, counts, held)
	if err != nil {
		return nil, err
	}
	ind, val, next := a.Ind, a.Val, slices.Clone(a.Ptr[:n])
	// As many blocks as make a block fit a cache, or nearly so: all of them read the
	// half up to their end. A row has the same entries whatever block it is in, so the
	// matrix does not depend on the cut.
	blocks := min(1+len(ind)/mirrorEntries, mirrorBlocks)
	if workers := r.Workers.Count(); workers > 1 {
		blocks = max(blocks, 4*workers)
	}
	size := max((n+blocks-1)/blocks, 1)
	if err := r.Workers.Do(ctx, par.Blocks(n, size), par.Func(func(_, block int) {
		lo, hi := par.Block(block, n, size)
		row := 0
		for _, piece := range half {
			for e := range len(piece.Ptr) - 1 {
				from, to := piece.Ptr[e], piece.Ptr[e+1]
				columns, values := piece.Ind[from:to], piece.Val[from:to]
				at := 0
				if len(columns) > 0 && columns[0] < uint32(lo) {
					at, _ = slices.BinarySearch(columns, uint32(lo))
				}
				for ; at < len(columns) && columns[at] < uint32(hi); at++ {
					j := columns[at]
					ind[next[j]], val[next[j]] = uint32(row), values[at]
					next[j]++
				}
				if row >= lo { // of this block: its own entries follow, all of those before are there
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
