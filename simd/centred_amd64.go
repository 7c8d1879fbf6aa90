//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/simd/internal/asm"
)

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

func centredMulTransAVX2(dst []float32, dstStride int, w []float32, wStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	centredPairs(asm.CentredMulTrans2F32AVX2, asm.CentredMulTrans1F32AVX2, dst, dstStride, w, wStride, 1, k, x, stride, rows, centre, scale)
}

func centredMulTransAVX512(dst []float32, dstStride int, w []float32, wStride, k int, x []float32, stride, rows int, centre []float32, scale float32) {
	centredPairs(asm.CentredMulTrans2F32AVX512, asm.CentredMulTrans1F32AVX512, dst, dstStride, w, wStride, 1, k, x, stride, rows, centre, scale)
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
