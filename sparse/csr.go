package sparse

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// A CSR is a sparse matrix in compressed row storage; the package comment
// shows the layouts. The zero value is an empty 0 x 0 matrix.
type CSR struct {
	rows, cols int
	ptr        []uint64
	ind        []uint32  // Plain
	short      *offsets  // else
	val        []float32 // but in Compact16
	half       []uint16  // Compact16
	chunks     []int     // row boundaries, see partition.go
}

// New makes a CSR of the given arrays, which it keeps and which must not be
// changed afterwards. It validates everything in one pass: row pointers start at
// 0, never decrease and end at len(ind), columns ascend strictly within a row and
// are below cols, values are finite. Large matrices are checked on all
// processors. The layout is Plain; Convert makes others.
func New(rows, cols int, ptr []uint64, ind []uint32, val []float32) (*CSR, error) {
	if err := checkShape(rows, cols, ptr, ind, val); err != nil {
		return nil, err
	}
	a := &CSR{rows: rows, cols: cols, ptr: ptr, ind: ind, val: val, chunks: partition(ptr)}
	var set *Workers
	if len(ind) >= parallelEntries {
		set = NewWorkers(0)
		defer set.Close()
	}
	if err := a.check(set); err != nil {
		return nil, err
	}
	return a, nil
}

// parallelEntries is the size from which New starts workers to check.
const parallelEntries = 1 << 19

// Adopt is New for builders whose way of building makes the matrix valid, on
// workers they have (nil: the caller alone). It looks at nothing but lengths, and
// panics if they do not fit. What they promise is what New checks: row pointers
// from 0 to len(ind) that never decrease, columns below cols that ascend strictly
// within each row, finite values. Where that is not so, products read memory that
// is not theirs. In a compact layout ind is not kept; at most 11 bytes an entry, 14
// for Compact16, and 12 a row are held while converting, those of the arguments
// included, as Bytes has them.
func Adopt(ctx context.Context, set *Workers, layout Layout, rows, cols int, ptr []uint64, ind []uint32, val []float32) (*CSR, error) {
	if len(ptr) != rows+1 || len(ind) != len(val) || ptr[rows] != uint64(len(ind)) {
		panic(fmt.Sprintf("sparse: adopt: %d row pointers to %d for %d rows, %d columns and %d values", len(ptr), ptr[len(ptr)-1], rows, len(ind), len(val)))
	}
	a := &CSR{rows: rows, cols: cols, ptr: ptr, ind: ind, val: val, chunks: partition(ptr)}
	return a.Convert(ctx, set, layout)
}

// Rows returns the number of rows.
func (a *CSR) Rows() int { return a.rows }

// Cols returns the number of columns.
func (a *CSR) Cols() int { return a.cols }

// NNZ returns the number of stored entries.
func (a *CSR) NNZ() int {
	if a.short != nil {
		return len(a.short.off)
	}
	return len(a.ind)
}

// A RowBuffer holds a row that is decoded; the zero value is ready for use. It
// is for one goroutine at a time.
type RowBuffer struct {
	ind []uint32
	val []float32
}

// Row returns the columns and values of row i. They alias the matrix or the
// buffer, must not be changed, and are good until the buffer is used again; a nil
// buffer stands for a new one. Like every index it panics when i is out of range.
func (a *CSR) Row(i int, buffer *RowBuffer) (ind []uint32, val []float32) {
	lo, hi := a.ptr[i], a.ptr[i+1]
	if a.short == nil {
		return a.ind[lo:hi:hi], a.val[lo:hi:hi]
	}
	if run := a.run(i); run != nil {
		return run.row(i)
	}
	if buffer == nil {
		buffer = new(RowBuffer)
	}
	buffer.ind = a.columns(buffer.ind[:0], i)
	if a.half == nil {
		return buffer.ind, a.val[lo:hi:hi]
	}
	buffer.val = buffer.val[:0]
	for _, h := range a.half[lo:hi] {
		buffer.val = append(buffer.val, simd.Float32(h))
	}
	return buffer.ind, buffer.val
}

// RowLen returns the number of entries of row i.
func (a *CSR) RowLen(i int) int { return int(a.ptr[i+1] - a.ptr[i]) }

// Size returns the memory the matrix takes in its layout, in bytes.
func (a *CSR) Size() int64 {
	size := 8*int64(len(a.ptr)) + 4*int64(len(a.ind)) + 4*int64(len(a.val)) + 2*int64(len(a.half)) + 8*int64(len(a.chunks))
	if c := a.short; c != nil {
		size += 4*int64(len(c.base)) + 2*int64(len(c.off))
		for _, run := range c.runs {
			size += wideRunBytes + 8*int64(len(run.ptr)-2) + 4*int64(len(run.ind))
			if a.half != nil {
				size += 4 * int64(len(run.val))
			}
		}
	}
	return size
}

// Streamed returns the bytes of the matrix that a product reads: in a compact
// layout less than Size, because the offsets of rows whose columns are kept
// elsewhere are not read.
func (a *CSR) Streamed() int64 {
	size := a.Size() - 8*int64(len(a.chunks))
	if a.short != nil {
		for _, run := range a.short.runs {
			size -= 2 * int64(len(run.ind))
			if a.half != nil {
				size -= 2 * int64(len(run.ind))
			}
		}
	}
	return size
}

// Bytes returns the memory that is held at most while Adopt makes a CSR of the
// given shape, its arguments included, and false when there is no such matrix or
// the number does not fit an int64. Builders call it before they allocate.
func Bytes(layout Layout, rows int, nnz uint64) (int64, bool) {
	perEntry, perRow := uint64(4+4), uint64(8)
	switch layout {
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

func checkShape(rows, cols int, ptr []uint64, ind []uint32, val []float32) error {
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
		if lo, hi := ptr[i], ptr[i+1]; lo > hi || hi > uint64(len(ind)) {
			return fmt.Errorf("sparse: %w: row %d runs from %d to %d of %d entries", ErrStructure, i, lo, hi, len(ind))
		}
	}
	return nil
}

// check validates the entries. Workers only find out whether all is well, in
// loops without a way out; if not, the caller looks for the first fault.
func (a *CSR) check(set *Workers) error {
	bad := make([]bool, a.Chunks())
	err := set.Do(context.Background(), a.Chunks(), par.Func(func(_, chunk int) {
		lo, hi := a.Chunk(chunk)
		bad[chunk] = !a.valid(lo, hi)
	}))
	if err != nil {
		return err
	}
	for chunk, b := range bad {
		if b {
			lo, hi := a.Chunk(chunk)
			return a.firstFault(lo, hi)
		}
	}
	return nil
}

// valid tells whether the entries of some rows are.
func (a *CSR) valid(lo, hi int) bool {
	wrong := uint32(0)
	for i := lo; i < hi; i++ {
		next := uint64(0) // smallest column allowed next
		for _, c := range a.ind[a.ptr[i]:a.ptr[i+1]] {
			wrong |= uint32((uint64(c) - next) >> 63)
			next = uint64(c) + 1
		}
		wrong |= uint32((uint64(a.cols) - next) >> 63)
	}
	for _, v := range a.val[a.ptr[lo]:a.ptr[hi]] {
		// The exponent of a NaN or an infinity is all ones: adding one to it
		// reaches the sign bit.
		wrong |= (math.Float32bits(v)&0x7f800000 + 0x00800000) >> 31
	}
	return wrong == 0
}

func (a *CSR) firstFault(lo, hi int) error {
	for i := lo; i < hi; i++ {
		next := uint64(0)
		for p := a.ptr[i]; p < a.ptr[i+1]; p++ {
			c := uint64(a.ind[p])
			if c < next || c >= uint64(a.cols) {
				return fmt.Errorf("sparse: %w: row %d has column %d, want %d to %d (ascending, no repeats)", ErrStructure, i, c, next, a.cols-1)
			}
			next = c + 1
			if v := a.val[p]; v-v != 0 { // NaN or infinite
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
	var buffer RowBuffer
	for i := range a.rows {
		ind, val := a.Row(i, &buffer)
		for e, j := range ind {
			p := cursor[j]
			if p == a.ptr[j+1] || a.column(int(j), p) != uint32(i) || a.value(p) != val[e] {
				return false
			}
			cursor[j]++
		}
	}
	return true
}

// value returns the value of entry p.
func (a *CSR) value(p uint64) float32 {
	if a.half != nil {
		return simd.Float32(a.half[p])
	}
	return a.val[p]
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
