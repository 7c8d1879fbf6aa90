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

// MulRow multiplies one row, given by its columns and values, in float64. It sets acc
// to the product with the first len(acc) columns of x. Each sum is in float64 and in
// stored order, so the sum of a column does not depend on how many others are computed
// with it. The caller must have checked the shapes; MulRow panics where they do not
// fit.
func MulRow[V, X float32 | float64](acc []float64, ind []uint32, val []V, x []X, stride int) {
	val = val[:len(ind)]
	c := 0
	// Columns are taken in groups that fit the registers; the row's indices stay in the
	// first-level cache between groups.
	for ; c+8 <= len(acc); c += 8 {
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for p, j := range ind {
			w := float64(val[p])
			r := x[int(j)*stride+c:][:8]
			s0 += w * float64(r[0])
			s1 += w * float64(r[1])
			s2 += w * float64(r[2])
			s3 += w * float64(r[3])
			s4 += w * float64(r[4])
			s5 += w * float64(r[5])
			s6 += w * float64(r[6])
			s7 += w * float64(r[7])
		}
		*(*[8]float64)(acc[c:]) = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	}
	for ; c+2 <= len(acc); c += 2 {
		var s0, s1 float64
		for p, j := range ind {
			w := float64(val[p])
			r := x[int(j)*stride+c:][:2]
			s0 += w * float64(r[0])
			s1 += w * float64(r[1])
		}
		acc[c], acc[c+1] = s0, s1
	}
	if c < len(acc) {
		s := 0.0
		for p, j := range ind {
			s += float64(val[p]) * float64(x[int(j)*stride+c])
		}
		acc[c] = s
	}
}
