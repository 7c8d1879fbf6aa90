package sparse

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// MulTo sets dst = A x. The workers share the work, nil for the caller alone; the
// kernels run the inner loops, nil for the best ones. x has Cols rows and any number of
// columns, dst has Rows rows and as many columns as x, and the two must not overlap.
// The package comment has the error of the product. Errors: kernel.ErrShape, ErrAlias,
// ErrShared, and that of ctx.
func (a *CSR) MulTo(ctx context.Context, workers *par.Workers, kernels *simd.Kernels, dst, x blas32.General) error {
	if x.Rows != a.cols || dst.Rows != a.rows || dst.Cols != x.Cols || x.Cols < 1 {
		return fmt.Errorf("sparse: %w: (%d x %d) = (%d x %d) (%d x %d)", points.ErrShape, dst.Rows, dst.Cols, a.rows, a.cols, x.Rows, x.Cols)
	}
	for _, m := range []blas32.General{dst, x} {
		if _, _, err := points.Dims(m); err != nil {
			return fmt.Errorf("sparse: %w", err)
		}
	}
	if mem.Overlap(dst.Data, x.Data) {
		return fmt.Errorf("sparse: %w", ErrAlias)
	}
	if a.Shared() {
		return fmt.Errorf("sparse: product: %w", ErrShared)
	}
	if kernels == nil {
		kernels = simd.At(simd.Best())
	}
	return workers.Do(ctx, a.Chunks(), par.Func(func(_, chunk int) {
		lo, hi := a.Chunk(chunk)
		a.MulRows(kernels, dst.Data[lo*dst.Stride:], dst.Stride, lo, hi, x.Cols, x.Data, x.Stride)
	}))
}

// MulRows sets the rows of dst, dstStride numbers apart, to rows lo to hi-1 of the
// product with the first k columns of the row-major x. It computes each number as MulTo
// does, with the same bits at every level of kernels and with any other columns.
//
// It is for callers that do more with a row than store it. The caller must have
// checked that x has a row for every column. MulRows panics where dst is too short.
func (a *CSR) MulRows(kernels *simd.Kernels, dst []float32, dstStride, lo, hi, k int, x []float32, stride int) {
	a.split(lo, hi, func(p *part, from, to int) {
		p.mul(kernels, dst[(from-lo)*dstStride:], dstStride, from, to, k, x, stride)
	})
}

// SumRows sets dst to the sums of rows lo to hi-1 in float64. It adds in the order of
// simd.Kernels.SumSparse.
func (a *CSR) SumRows(kernels *simd.Kernels, dst []float64, lo, hi int) {
	a.split(lo, hi, func(p *part, from, to int) { p.sum(kernels, dst[from-lo:], from, to) })
}

// split calls f with the rows of each part among lo to hi-1.
func (a *CSR) split(lo, hi int, f func(p *part, lo, hi int)) {
	for lo < hi {
		p := a.partOf(lo)
		end := min(hi, p.hi)
		f(p, lo, end)
		lo = end
	}
}
