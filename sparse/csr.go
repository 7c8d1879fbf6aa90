package sparse

import (
	"fmt"
	"math"
	"sort"
)

// A CSR is a sparse matrix in compressed row storage; the package comment
// shows the layout. The zero value is an empty 0 x 0 matrix.
type CSR struct {
	rows, cols int
	ptr        []uint64
	ind        []uint32
	val        []float32
	chunks     []int // row boundaries, see partition.go
}

// New makes a CSR of the given arrays, which it keeps and which must not be
// changed afterwards. It validates everything in one pass and allocates only
// the chunk table: row pointers start at 0, never decrease and end at len(ind),
// columns ascend strictly within a row and are below cols, values are finite.
func New(rows, cols int, ptr []uint64, ind []uint32, val []float32) (*CSR, error) {
	if err := check(rows, cols, ptr, ind, val); err != nil {
		return nil, err
	}
	return &CSR{rows: rows, cols: cols, ptr: ptr, ind: ind, val: val, chunks: partition(ptr)}, nil
}

// Assume is New without the check, for builders that make what New asks for.
func Assume(rows, cols int, ptr []uint64, ind []uint32, val []float32) *CSR {
	return &CSR{rows: rows, cols: cols, ptr: ptr, ind: ind, val: val, chunks: partition(ptr)}
}

// Rows returns the number of rows.
func (a *CSR) Rows() int { return a.rows }

// Cols returns the number of columns.
func (a *CSR) Cols() int { return a.cols }

// NNZ returns the number of stored entries.
func (a *CSR) NNZ() int { return len(a.ind) }

// Row returns the columns and values of row i. Both alias the matrix and must
// not be changed. Like every index it panics when i is out of range.
func (a *CSR) Row(i int) (ind []uint32, val []float32) {
	lo, hi := a.ptr[i], a.ptr[i+1]
	return a.ind[lo:hi:hi], a.val[lo:hi:hi]
}

// RowLen returns the number of entries of row i.
func (a *CSR) RowLen(i int) int { return int(a.ptr[i+1] - a.ptr[i]) }

// Bytes returns the memory a CSR of the given shape takes, and false when the
// number does not fit an int64. Builders call it before they allocate.
func Bytes(rows int, nnz uint64) (int64, bool) {
	const perEntry = 4 + 4
	if rows < 0 || nnz > math.MaxInt64/perEntry {
		return 0, false
	}
	total := nnz*perEntry + 8*(uint64(rows)+1)
	return int64(total), total <= math.MaxInt64
}

func check(rows, cols int, ptr []uint64, ind []uint32, val []float32) error {
	switch {
	case rows < 0 || cols < 0 || uint64(rows) > math.MaxUint32 || uint64(cols) > math.MaxUint32:
		return fmt.Errorf("sparse: %w: %d x %d, want sizes from 0 to 2^32-1", ErrShape, rows, cols)
	case len(ptr) != rows+1:
		return fmt.Errorf("sparse: %w: %d row pointers for %d rows, want one more than rows", ErrStructure, len(ptr), rows)
	case len(ind) != len(val):
		return fmt.Errorf("sparse: %w: %d columns but %d values", ErrStructure, len(ind), len(val))
	case ptr[0] != 0 || ptr[rows] != uint64(len(ind)):
		return fmt.Errorf("sparse: %w: row pointers run from %d to %d, want 0 to %d", ErrStructure, ptr[0], ptr[rows], len(ind))
	}
	for i := range rows {
		lo, hi := ptr[i], ptr[i+1]
		if lo > hi || hi > uint64(len(ind)) {
			return fmt.Errorf("sparse: %w: row %d runs from %d to %d of %d entries", ErrStructure, i, lo, hi, len(ind))
		}
		next := uint64(0) // smallest column allowed next
		for p := lo; p < hi; p++ {
			c := uint64(ind[p])
			if c < next || c >= uint64(cols) {
				return fmt.Errorf("sparse: %w: row %d has column %d, want %d to %d (ascending, no repeats)", ErrStructure, i, c, next, cols-1)
			}
			next = c + 1
			if v := val[p]; v-v != 0 { // NaN or infinite
				return fmt.Errorf("sparse: %w: row %d, column %d", ErrNonFinite, i, c)
			}
		}
	}
	return nil
}

// IsSymmetric reports whether a equals its transpose exactly.
func (a *CSR) IsSymmetric() bool {
	if a.rows != a.cols {
		return false
	}
	// Rows are visited in ascending order, so the entries (j, i) that must
	// answer (i, j) come in storage order for each j: one cursor per row.
	cursor := make([]uint64, a.rows)
	copy(cursor, a.ptr)
	for i := range a.rows {
		ind, val := a.Row(i)
		for p, j := range ind {
			q := cursor[j]
			if q == a.ptr[j+1] || a.ind[q] != uint32(i) || a.val[q] != val[p] {
				return false
			}
			cursor[j]++
		}
	}
	return true
}

// find returns the position of column j in row i, or false.
func (a *CSR) find(i, j int) (uint64, bool) {
	ind, _ := a.Row(i)
	p := sort.Search(len(ind), func(p int) bool { return ind[p] >= uint32(j) })
	return a.ptr[i] + uint64(p), p < len(ind) && ind[p] == uint32(j)
}
