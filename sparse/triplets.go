package sparse

import (
	"fmt"
	"math"
	"slices"
)

// FromTriplets makes a CSR of entries given one by one in any order; entries
// at the same place are added. The arguments are not changed. It takes 24 bytes
// an entry and 16 a row, whether the rows are empty or not.
func FromTriplets(rows, cols int, row, col []uint32, val []float64) (*CSR, error) {
	if len(row) != len(col) || len(row) != len(val) {
		return nil, fmt.Errorf("sparse: %w: %d rows, %d columns and %d values", ErrShape, len(row), len(col), len(val))
	}
	if rows < 0 || cols < 0 || uint64(rows) > math.MaxUint32 || uint64(cols) > math.MaxUint32 {
		return nil, fmt.Errorf("sparse: %w: %d x %d, want sizes from 0 to 2^32-1", ErrShape, rows, cols)
	}
	// Counting sort by row, then each row by column.
	ptr := make([]uint64, rows+1)
	for e, i := range row {
		if int64(i) >= int64(rows) || int64(col[e]) >= int64(cols) {
			return nil, fmt.Errorf("sparse: %w: entry %d at (%d, %d) of a %d x %d matrix", ErrStructure, e, i, col[e], rows, cols)
		}
		ptr[i+1]++
	}
	for i := range rows {
		ptr[i+1] += ptr[i]
	}
	type entry struct {
		col uint32
		val float64
	}
	sorted := make([]entry, len(row))
	next := slices.Clone(ptr[:rows])
	for e, i := range row {
		sorted[next[i]] = entry{col[e], val[e]}
		next[i]++
	}
	ind := make([]uint32, 0, len(row))
	out := make([]float32, 0, len(row))
	for i := range rows {
		// ptr[i] turns from the position before adding repeats into the one
		// after it; ptr[i+1] is still the former.
		entries := sorted[ptr[i]:ptr[i+1]]
		slices.SortStableFunc(entries, func(a, b entry) int { return int(int64(a.col) - int64(b.col)) })
		ptr[i] = uint64(len(ind))
		for e := 0; e < len(entries); {
			c, sum := entries[e].col, 0.0
			for ; e < len(entries) && entries[e].col == c; e++ {
				sum += entries[e].val
			}
			ind, out = append(ind, c), append(out, float32(sum))
		}
	}
	ptr[rows] = uint64(len(ind))
	return New(rows, cols, ptr, ind, out)
}
