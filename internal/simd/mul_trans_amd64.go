//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// A mulTransKernel is a generated function that takes some columns of w and some vectors
// of columns of a.
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

func (m *mulTransKernels) run(dst, w, a Rows[float32], k, rows, cols int) {
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
				from, factors = &a.Data[t], &w.Data[c]
			}
			kernels[size](&dst.Data[c*dst.Stride+t], uintptr(dst.Stride), factors, uintptr(w.Stride), from, uintptr(a.Stride), uintptr(rows), uintptr(last))
			t += width
		}
		c += columns
	}
}

func mulTransAVX2(dst, w, a Rows[float32], k, rows, cols int) {
	mulTransOfAVX2.run(dst, w, a, k, rows, cols)
}

func mulTransAVX512(dst, w, a Rows[float32], k, rows, cols int) {
	mulTransOfAVX512.run(dst, w, a, k, rows, cols)
}
