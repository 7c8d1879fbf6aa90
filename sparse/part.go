package sparse

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// A part is the rows lo to hi-1 of a matrix. Parts made from one piece share its
// arrays, so row pointers begin at 0 or at the number of entries before the part.
type part struct {
	lo, hi int
	ptr    []uint64  // where each row begins, and the end of the last
	ind    []uint32  // columns; nil when the layout is compact
	short  *offsets  // columns; nil when the layout is Plain
	val    []float32 // values; nil when the layout is Compact16
	half   []uint16  // values; nil unless the layout is Compact16
}

// nnz returns the number of entries.
func (p *part) nnz() int { return int(p.end() - p.ptr[0]) }

// end returns the end of the last row.
func (p *part) end() uint64 { return p.ptr[p.hi-p.lo] }

// entries returns the range of entries of row i.
func (p *part) entries(i int) (lo, hi uint64) { return p.ptr[i-p.lo], p.ptr[i-p.lo+1] }

// row is CSR.Row for a row of the part.
func (p *part) row(i int, buffer *RowBuffer) (ind []uint32, val []float32) {
	lo, hi := p.entries(i)
	if p.short == nil {
		return p.ind[lo:hi:hi], p.val[lo:hi:hi]
	}
	if run := p.run(i); run != nil {
		return run.row(i)
	}
	if buffer == nil {
		buffer = new(RowBuffer)
	}
	buffer.ind = p.columns(buffer.ind[:0], i)
	if p.half == nil {
		return buffer.ind, p.val[lo:hi:hi]
	}
	buffer.val = buffer.val[:0]
	for _, h := range p.half[lo:hi] {
		buffer.val = append(buffer.val, simd.Float32(h))
	}
	return buffer.ind, buffer.val
}

// size returns the memory the part takes, in bytes, without the row pointer at the end
// of its last row: the next part may begin with it.
func (p *part) size() int64 {
	nnz := int64(p.nnz())
	size := 8*int64(p.hi-p.lo) + 4*nnz
	if p.half != nil {
		size -= 2 * nnz
	}
	c := p.short
	if c == nil {
		return size + 4*nnz
	}
	size += 4*int64(len(c.base)) + 2*nnz
	for _, run := range c.runs {
		size += wideRunBytes + 8*int64(len(run.ptr)-2) + 4*int64(len(run.ind))
		if p.half != nil {
			size += 4 * int64(len(run.val))
		}
	}
	return size
}

// streamed returns the bytes that a product reads.
func (p *part) streamed() int64 {
	size := p.size()
	if p.short != nil {
		for _, run := range p.short.runs {
			size -= 2 * int64(len(run.ind))
			if p.half != nil {
				size -= 2 * int64(len(run.ind))
			}
		}
	}
	return size
}

// mul is MulRows for rows of the part.
func (p *part) mul(kernels *simd.Kernels, dst []float32, dstStride, lo, hi, k int, x []float32, stride int) {
	if p.short == nil {
		kernels.MulSparse(simd.RowsOf(dst, dstStride), k, p.ptr[lo-p.lo:hi-p.lo+1], p.ind, p.val, simd.RowsOf(x, stride))
		return
	}
	p.short.pieces(lo, hi, func(from, to int, run *wideRun) {
		dst, ptr, base, off := dst[(from-lo)*dstStride:], p.ptr[from-p.lo:to-p.lo+1], p.short.base[from-p.lo:to-p.lo], p.short.off
		switch {
		case run != nil:
			kernels.MulSparse(simd.RowsOf(dst, dstStride), k, run.ptr[from-run.lo:to-run.lo+1], run.ind, run.val, simd.RowsOf(x, stride))
		case p.half != nil:
			kernels.MulSparseOffsets16(simd.RowsOf(dst, dstStride), k, ptr, base, off, p.half, simd.RowsOf(x, stride))
		default:
			kernels.MulSparseOffsets(simd.RowsOf(dst, dstStride), k, ptr, base, off, p.val, simd.RowsOf(x, stride))
		}
	})
}

// sum is SumRows for rows of the part.
func (p *part) sum(kernels *simd.Kernels, dst []float64, lo, hi int) {
	if p.half == nil {
		kernels.SumSparse(dst, p.ptr[lo-p.lo:hi-p.lo+1], p.val)
		return
	}
	var buffer RowBuffer
	ptr := make([]uint64, 2) // kernels make slices escape: one for all rows
	for i := lo; i < hi; i++ {
		_, val := p.row(i, &buffer)
		ptr[1] = uint64(len(val))
		kernels.SumSparse(dst[i-lo:], ptr, val)
	}
}

// valid reports whether the entries of a part in layout Plain pass the checks of New.
func (p *part) valid(cols int) bool {
	wrong := uint32(0)
	for i := p.lo; i < p.hi; i++ {
		lo, hi := p.entries(i)
		next := uint64(0) // smallest column allowed next
		for _, c := range p.ind[lo:hi] {
			wrong |= uint32((uint64(c) - next) >> 63)
			next = uint64(c) + 1
		}
		wrong |= uint32((uint64(cols) - next) >> 63)
	}
	for _, v := range p.val[p.ptr[0]:p.end()] {
		// The exponent of a NaN or an infinity is all ones: adding one to it
		// reaches the sign bit.
		wrong |= (math.Float32bits(v)&0x7f800000 + 0x00800000) >> 31
	}
	return wrong == 0
}

// firstFault returns the error of the first entry that does not pass these checks.
func (p *part) firstFault(cols int) error {
	for i := p.lo; i < p.hi; i++ {
		next := uint64(0)
		ind, val := p.row(i, nil)
		for e, column := range ind {
			c := uint64(column)
			if c < next || c >= uint64(cols) {
				return fmt.Errorf("sparse: %w: row %d has column %d, want %d to %d (ascending, no repeats)", ErrStructure, i+1, c+1, next+1, cols)
			}
			next = c + 1
			if v := val[e]; v-v != 0 { // NaN or infinite
				return fmt.Errorf("sparse: %w: row %d, column %d", points.ErrNonFinite, i+1, c+1)
			}
		}
	}
	return nil
}
