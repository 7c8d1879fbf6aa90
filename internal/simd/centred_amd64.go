//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

func centreAVX2(dst, x Rows[float32], rows int, centre []float32, scale float32) {
	asm.CentreF32AVX2(&dst.Data[0], uintptr(dst.Stride), &x.Data[0], uintptr(x.Stride), uintptr(rows), unsafe.SliceData(centre), uintptr(len(centre)), scale)
}

func centreAVX512(dst, x Rows[float32], rows int, centre []float32, scale float32) {
	asm.CentreF32AVX512(&dst.Data[0], uintptr(dst.Stride), &x.Data[0], uintptr(x.Stride), uintptr(rows), unsafe.SliceData(centre), uintptr(len(centre)), scale)
}

// A centredKernel is a generated function that takes one or two columns of w.
type centredKernel = func(dst *float32, dstStride uintptr, w *float32, wStride uintptr, x *float32, stride uintptr, rows uintptr, centre *float32, d uintptr, scale float32)

// centredPairs calls a kernel for two columns of w at a time, or for two rows of b, which
// is then passed as w. step is the distance between the starts of two columns or rows.
func centredPairs(two, one centredKernel, dst, w, x Rows[float32], step, k, rows int, centre []float32, scale float32) {
	for c := 0; c < k; c += 2 {
		kernel := two
		if c+1 == k {
			kernel = one
		}
		kernel(&dst.Data[c*dst.Stride], uintptr(dst.Stride), &w.Data[c*step], uintptr(w.Stride), &x.Data[0], uintptr(x.Stride), uintptr(rows), &centre[0], uintptr(len(centre)), scale)
	}
}

func centredMulTransAVX2(dst, w, x Rows[float32], k, rows int, centre []float32, scale float32) {
	centredPairs(asm.CentredMulTrans2F32AVX2, asm.CentredMulTrans1F32AVX2, dst, w, x, 1, k, rows, centre, scale)
}

func centredMulTransAVX512(dst, w, x Rows[float32], k, rows int, centre []float32, scale float32) {
	centredPairs(asm.CentredMulTrans2F32AVX512, asm.CentredMulTrans1F32AVX512, dst, w, x, 1, k, rows, centre, scale)
}

func centredDotsAVX2(dst, b, x Rows[float32], k, rows int, centre []float32, scale float32) {
	if len(centre) == 0 {
		centredDotsGo(dst, b, x, k, rows, centre, scale)
		return
	}
	centredPairs(asm.CentredDots2F32AVX2, asm.CentredDots1F32AVX2, dst, b, x, b.Stride, k, rows, centre, scale)
}

func centredDotsAVX512(dst, b, x Rows[float32], k, rows int, centre []float32, scale float32) {
	if len(centre) == 0 {
		centredDotsGo(dst, b, x, k, rows, centre, scale)
		return
	}
	centredPairs(asm.CentredDots2F32AVX512, asm.CentredDots1F32AVX512, dst, b, x, b.Stride, k, rows, centre, scale)
}
