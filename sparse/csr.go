package sparse

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// A CSR is a sparse matrix in compressed row storage. The package comment shows the
// layouts. The zero value is an empty 0 x 0 matrix.
type CSR struct {
	rows, cols, nnz int
	layout          Layout
	parts           []part // of consecutive rows, each a chunk of work
	share           *share // nil when all rows are here
}

// New makes a CSR from the given arrays. The matrix keeps them, so the caller must not
// change them afterwards. New checks that row pointers start at 0, never decrease and
// end at len(ind), that columns ascend strictly within a row and are below cols, and
// that values are finite. The layout is Plain; Convert changes it. Errors: kernel.ErrShape,
// ErrStructure, kernel.ErrNonFinite.
func New(rows, cols int, ptr []uint64, ind []uint32, val []float32) (*CSR, error) {
	if err := checkShape(rows, cols, ptr, ind, val); err != nil {
		return nil, err
	}
	a := whole(rows, cols, ptr, ind, val)
	if err := a.check(); err != nil {
		return nil, err
	}
	return a, nil
}

// Adopt is New for builders that make only valid matrices. The workers convert the
// matrix to the layout; nil stands for the caller alone. Adopt checks only lengths, and
// panics if they do not fit. The builder promises what New checks: row pointers from 0
// to len(ind) that never decrease, columns below cols that ascend strictly within each
// row, finite values. If it breaks the promise, products read memory outside the
// arrays. A compact layout does not keep ind. While Adopt converts, it holds at most 11
// bytes an entry, 14 for Compact16, and 12 a row, including the arguments; Layout.Bytes
// computes the sum. Errors: those of Convert.
func Adopt(ctx context.Context, workers *par.Workers, layout Layout, rows, cols int, ptr []uint64, ind []uint32, val []float32) (*CSR, error) {
	if len(ptr) != rows+1 || len(ind) != len(val) || ptr[rows] != uint64(len(ind)) {
		panic(fmt.Sprintf("sparse: adopt: %d row pointers for %d rows, %d columns and %d values", len(ptr), rows, len(ind), len(val)))
	}
	return whole(rows, cols, ptr, ind, val).Convert(ctx, workers, layout)
}

// whole splits a matrix given in one piece into parts that share its arrays.
func whole(rows, cols int, ptr []uint64, ind []uint32, val []float32) *CSR {
	bounds := split.Chunks(ptr)
	a := &CSR{rows: rows, cols: cols, nnz: len(ind), layout: Plain, parts: make([]part, len(bounds)-1)}
	for c := range a.parts {
		lo, hi := bounds[c], bounds[c+1]
		a.parts[c] = part{lo: lo, hi: hi, ptr: ptr[lo : hi+1], ind: ind, val: val}
	}
	return a
}

// Rows are some consecutive rows of a matrix. Row i among them has the entries Ptr[i]
// to Ptr[i+1]-1 of Ind and Val, and Ptr[0] is 0.
type Rows struct {
	Ptr []uint64
	Ind []uint32
	Val []float32
}

// adoptRows is AdoptShared for a single process.
func adoptRows(ctx context.Context, workers *par.Workers, layout Layout, cols int, pieces []Rows) (*CSR, error) {
	a := &CSR{cols: cols, layout: Plain, parts: make([]part, len(pieces))}
	for c, r := range pieces {
		last := len(r.Ptr) - 1
		if last < 1 || len(r.Ind) != len(r.Val) || r.Ptr[0] != 0 || r.Ptr[last] > uint64(len(r.Ind)) {
			panic(fmt.Sprintf("sparse: adopt: piece %d has %d row pointers, %d columns and %d values", c, len(r.Ptr), len(r.Ind), len(r.Val)))
		}
		a.parts[c] = part{lo: a.rows, hi: a.rows + last, ptr: r.Ptr, ind: r.Ind, val: r.Val}
		a.rows, a.nnz = a.rows+last, a.nnz+a.parts[c].nnz()
	}
	return a.Convert(ctx, workers, layout)
}

// Rows returns the number of rows.
func (a *CSR) Rows() int { return a.rows }

// Cols returns the number of columns.
func (a *CSR) Cols() int { return a.cols }

// NNZ returns the number of stored entries.
func (a *CSR) NNZ() int { return a.nnz }

// A RowBuffer holds a row that Row has decoded. The zero value is ready for use. Only
// one goroutine at a time may use a buffer.
type RowBuffer struct {
	ind []uint32
	val []float32
}

// Row returns the columns and values of row i. They alias the matrix or the buffer: the
// caller must not change them, and they are valid until the buffer is used again. A nil
// buffer stands for a new one. Row panics when i is out of range.
func (a *CSR) Row(i int, buffer *RowBuffer) (ind []uint32, val []float32) {
	return a.partOf(i).row(i, buffer)
}

// RowLen returns the number of entries of row i. It panics when i is out of range.
func (a *CSR) RowLen(i int) int {
	lo, hi := a.partOf(i).entries(i)
	return int(hi - lo)
}

// partOf returns the part that holds row i. It panics where the row is with another rank.
func (a *CSR) partOf(i int) *part {
	p := &a.parts[sort.Search(len(a.parts), func(c int) bool { return a.parts[c].hi > i })]
	p.refuseElsewhere(i)
	return p
}

// Size returns the memory the matrix takes in its layout, in bytes.
func (a *CSR) Size() int64 {
	if a.share != nil {
		return a.share.size
	}
	size := int64(8)
	for c := range a.parts {
		size += a.parts[c].size()
	}
	return size
}

// Streamed returns the bytes of the matrix that a product reads. In a compact layout
// this may be less than Size: a row that is kept in Plain also has offsets, which
// products do not read.
func (a *CSR) Streamed() int64 {
	if a.share != nil {
		return a.share.streamed
	}
	size := int64(8)
	for c := range a.parts {
		size += a.parts[c].streamed()
	}
	return size
}

// Bytes returns the most memory that Adopt holds while it makes a CSR of the given
// shape, including the arguments. It returns false if such a matrix cannot exist or the
// number does not fit an int64. Builders call it before they allocate.
func (l Layout) Bytes(rows int, nnz uint64) (int64, bool) {
	perEntry, perRow := uint64(4+4), uint64(8)
	switch l {
	case Compact:
		perEntry, perRow = perEntry+3, perRow+4
	case Compact16:
		perEntry, perRow = perEntry+6, perRow+4
	}
	if rows < 0 || uint64(rows) > math.MaxUint32 || nnz > math.MaxInt64/perEntry {
		return 0, false
	}
	total := nnz*perEntry + uint64(rows)*perRow + 8
	return int64(total), total <= math.MaxInt64
}

func checkSizes(rows, cols int) error {
	if rows < 0 || cols < 0 || uint64(rows) > math.MaxUint32 || uint64(cols) > math.MaxUint32 {
		return fmt.Errorf("sparse: %w: %d x %d, want sizes from 0 to 2^32-1", points.ErrShape, rows, cols)
	}
	return nil
}

// checkShape refuses arrays whose lengths or row pointers do not describe a matrix.
func checkShape(rows, cols int, ptr []uint64, ind []uint32, val []float32) error {
	if err := checkSizes(rows, cols); err != nil {
		return err
	}
	switch {
	case len(ptr) != rows+1:
		return fmt.Errorf("sparse: %w: %d row pointers for %d rows, want one more than rows", ErrStructure, len(ptr), rows)
	case len(ind) != len(val):
		return fmt.Errorf("sparse: %w: %d columns but %d values", ErrStructure, len(ind), len(val))
	case ptr[0] != 0 || ptr[rows] != uint64(len(ind)):
		return fmt.Errorf("sparse: %w: row pointers run from %d to %d, want 0 to %d", ErrStructure, ptr[0], ptr[rows], len(ind))
	}
	for i := range rows {
		if lo, hi := ptr[i], ptr[i+1]; lo > hi || hi > uint64(len(ind)) {
			return fmt.Errorf("sparse: %w: row %d runs from %d to %d of %d entries", ErrStructure, i+1, lo, hi, len(ind))
		}
	}
	return nil
}

// check validates the entries, part by part, in loops without an early exit. In the first
// invalid part it looks for the fault.
func (a *CSR) check() error {
	for c := range a.parts {
		if p := &a.parts[c]; !p.valid(a.cols) {
			return p.firstFault(a.cols)
		}
	}
	return nil
}

// IsSymmetric reports whether a equals its transpose exactly. Graphs of package kernel
// always do; IsSymmetric is for matrices from elsewhere.
func (a *CSR) IsSymmetric() bool {
	if a.rows != a.cols {
		return false
	}
	// Rows are visited in ascending order, so for each j the entries (j, i) that must
	// match (i, j) come in storage order: one cursor per row suffices.
	cursor := make([]uint32, a.rows)
	var row, answer RowBuffer
	for i := range a.rows {
		ind, val := a.Row(i, &row)
		for e, j := range ind {
			columns, values := a.Row(int(j), &answer)
			p := cursor[j]
			if int(p) == len(columns) || columns[p] != uint32(i) || values[p] != val[e] {
				return false
			}
			cursor[j]++
		}
	}
	return true
}

// find returns the value of column j in row i, or false.
func (a *CSR) find(i, j int) (float32, bool) {
	ind, val := a.Row(i, nil)
	p := sort.Search(len(ind), func(p int) bool { return ind[p] >= uint32(j) })
	if p == len(ind) || ind[p] != uint32(j) {
		return 0, false
	}
	return val[p], true
}
