package sparse

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Permute returns the matrix whose row and column i are row and column order[i] of a.
// The matrix a must be square, and order must contain each of 0 to Rows-1 once. The
// layout of the result is Plain; its values are those stored in a. Errors: kernel.ErrShape,
// ErrStructure, ErrShared.
func (a *CSR) Permute(order []uint32) (*CSR, error) {
	if a.rows != a.cols || len(order) != a.rows {
		return nil, fmt.Errorf("sparse: permute: %w: %d x %d with an order of %d", points.ErrShape, a.rows, a.cols, len(order))
	}
	if a.Shared() {
		return nil, fmt.Errorf("sparse: permute: %w", ErrShared)
	}
	place, err := inverse(order)
	if err != nil {
		return nil, err
	}
	ptr := make([]uint64, a.rows+1)
	for i, old := range order {
		ptr[i+1] = ptr[i] + uint64(a.RowLen(int(old)))
	}
	ind := make([]uint32, a.NNZ())
	val := make([]float32, a.NNZ())
	var buffer RowBuffer
	var row []uint64 // column and position in one word, so that sorting moves both
	for i, old := range order {
		oldInd, oldVal := a.Row(int(old), &buffer)
		row = row[:0]
		for p, j := range oldInd {
			row = append(row, uint64(place[j])<<32|uint64(p))
		}
		slices.Sort(row)
		out := ptr[i]
		for e, key := range row {
			ind[out+uint64(e)] = uint32(key >> 32)
			val[out+uint64(e)] = oldVal[uint32(key)]
		}
	}
	return Adopt(context.Background(), nil, Plain, a.rows, a.cols, ptr, ind, val)
}

// inverse returns the order that undoes the given one: inverse[order[i]] = i. It
// returns ErrStructure for an order that is not a permutation.
func inverse(order []uint32) ([]uint32, error) {
	inverse := make([]uint32, len(order))
	seen := make([]bool, len(order))
	for i, j := range order {
		if int64(j) >= int64(len(order)) || seen[j] {
			return nil, fmt.Errorf("sparse: %w: order[%d] = %d is out of range or repeated", ErrStructure, i, j)
		}
		seen[j] = true
		inverse[j] = uint32(i)
	}
	return inverse, nil
}
