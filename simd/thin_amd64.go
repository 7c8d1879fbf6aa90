//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

type mulTransKernel = func(dst *float32, dstStride uintptr, w *float32, wStride uintptr, a *float32, aStride uintptr, rows, last uintptr)

// mulTransKernels are the functions of a level: for 1 or 2 columns of w, and 1, 2
// or 4 vectors of columns of a.
type mulTransKernels struct {
	lanes    int
	one, two [3]mulTransKernel
}

var (
	mulTransOfAVX2 = mulTransKernels{8,
		[3]mulTransKernel{asm.MulTrans1x1F32AVX2, asm.MulTrans1x2F32AVX2, asm.MulTrans1x4F32AVX2},
		[3]mulTransKernel{asm.MulTrans2x1F32AVX2, asm.MulTrans2x2F32AVX2, asm.MulTrans2x4F32AVX2}}
	mulTransOfAVX512 = mulTransKernels{16,
		[3]mulTransKernel{asm.MulTrans1x1F32AVX512, asm.MulTrans1x2F32AVX512, asm.MulTrans1x4F32AVX512},
		[3]mulTransKernel{asm.MulTrans2x1F32AVX512, asm.MulTrans2x2F32AVX512, asm.MulTrans2x4F32AVX512}}
)

func (m *mulTransKernels) run(dst []float32, dstStride int, w []float32, wStride, k int, a []float32, aStride, rows, cols int) {
	for c := 0; c < k; {
		kernels, columns := &m.one, 1
		if k-c >= 2 {
			kernels, columns = &m.two, 2
		}
		for t := 0; t < cols; {
			vectors := (cols - t + m.lanes - 1) / m.lanes
			size := min(2, vectors/2) // 1, 2 or 4 vectors
			width := min(cols-t, m.lanes<<size)
			last := width - m.lanes<<size + m.lanes
			var from, factors *float32
			if rows > 0 {
				from, factors = &a[t], &w[c]
			}
			kernels[size](&dst[c*dstStride+t], uintptr(dstStride), factors, uintptr(wStride), from, uintptr(aStride), uintptr(rows), uintptr(last))
			t += width
		}
		c += columns
	}
}

func mulTransAVX2(dst []float32, dstStride int, w []float32, wStride, k int, a []float32, aStride, rows, cols int) {
	mulTransOfAVX2.run(dst, dstStride, w, wStride, k, a, aStride, rows, cols)
}

func mulTransAVX512(dst []float32, dstStride int, w []float32, wStride, k int, a []float32, aStride, rows, cols int) {
	mulTransOfAVX512.run(dst, dstStride, w, wStride, k, a, aStride, rows, cols)
}

func centreAVX2(dst []float32, dstStride int, x []float32, stride, rows int, centre []float32, scale float32) {
	asm.CentreF32AVX2(&dst[0], uintptr(dstStride), &x[0], uintptr(stride), uintptr(rows), unsafe.SliceData(centre), uintptr(len(centre)), scale)
}

func centreAVX512(dst []float32, dstStride int, x []float32, stride, rows int, centre []float32, scale float32) {
	asm.CentreF32AVX512(&dst[0], uintptr(dstStride), &x[0], uintptr(stride), uintptr(rows), unsafe.SliceData(centre), uintptr(len(centre)), scale)
}

type centredKernel = func(dst *float32, dstStride uintptr, w *float32, wStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)

// centredPairs calls a kernel for two columns of w, or rows of b, at a time; step is
// how far apart they are there.
func centredPairs(two, one centredKernel, dst []float32, dstStride int, w []float32, wStride, step, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	for c := 0; c < k; c += 2 {
		kernel := two
		if c+1 == k {
			kernel = one
		}
		kernel(&dst[c*dstStride], uintptr(dstStride), &w[c*step], uintptr(wStride), &x[0], uintptr(stride), uintptr(rows), &centre[0], uintptr(len(centre)), scale)
	}
}

func centredSumsAVX2(dst []float32, dstStride int, w []float32, wStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	centredPairs(asm.CentredSums2F32AVX2, asm.CentredSums1F32AVX2, dst, dstStride, w, wStride, 1, k, x, stride, rows, centre, scale)
}

func centredSumsAVX512(dst []float32, dstStride int, w []float32, wStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	centredPairs(asm.CentredSums2F32AVX512, asm.CentredSums1F32AVX512, dst, dstStride, w, wStride, 1, k, x, stride, rows, centre, scale)
}

func centredDotsAVX2(dst []float32, dstStride int, b []float32, bStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	if len(centre) == 0 {
		centredDotsGo(dst, dstStride, b, bStride, k, x, stride, rows, centre, scale)
		return
	}
	centredPairs(asm.CentredDots2F32AVX2, asm.CentredDots1F32AVX2, dst, dstStride, b, bStride, bStride, k, x, stride, rows, centre, scale)
}

func centredDotsAVX512(dst []float32, dstStride int, b []float32, bStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	if len(centre) == 0 {
		centredDotsGo(dst, dstStride, b, bStride, k, x, stride, rows, centre, scale)
		return
	}
	centredPairs(asm.CentredDots2F32AVX512, asm.CentredDots1F32AVX512, dst, dstStride, b, bStride, bStride, k, x, stride, rows, centre, scale)
}
