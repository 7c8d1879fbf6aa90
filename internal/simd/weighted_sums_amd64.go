//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// A weightedSumsKernel is a generated function for some columns of x.
type weightedSumsKernel = func(dst *float64, dstStride uintptr, w *float64, wStride uintptr, x *float64, xStride uintptr, n uintptr)

// weightedSumsKernels are the functions of a level, each for one, two and three columns of
// x: sums by some rows of weights, and sums by many or 8 columns of weights.
type weightedSumsKernels struct {
	tall, broad              int
	byRows, byColumns, eight [3]weightedSumsKernel
}

var (
	weightedSumsOfAVX2 = weightedSumsKernels{2, 16,
		[3]weightedSumsKernel{asm.WeightedSums1F64AVX2, asm.WeightedSums2F64AVX2, asm.WeightedSums3F64AVX2},
		[3]weightedSumsKernel{asm.WeightedSumsTrans1x16F64AVX2, asm.WeightedSumsTrans2x16F64AVX2, asm.WeightedSumsTrans3x16F64AVX2},
		[3]weightedSumsKernel{asm.WeightedSumsTrans1x8F64AVX2, asm.WeightedSumsTrans2x8F64AVX2, asm.WeightedSumsTrans3x8F64AVX2}}
	weightedSumsOfAVX512 = weightedSumsKernels{8, 64,
		[3]weightedSumsKernel{asm.WeightedSums1F64AVX512, asm.WeightedSums2F64AVX512, asm.WeightedSums3F64AVX512},
		[3]weightedSumsKernel{asm.WeightedSumsTrans1x64F64AVX512, asm.WeightedSumsTrans2x64F64AVX512, asm.WeightedSumsTrans3x64F64AVX512},
		[3]weightedSumsKernel{asm.WeightedSumsTrans1x8F64AVX512, asm.WeightedSumsTrans2x8F64AVX512, asm.WeightedSumsTrans3x8F64AVX512}}
)

// run adds the sums by rows.
func (t *weightedSumsKernels) run(dst, w, x Rows[float64], k, m, n int) {
	for i := 0; i < m; i += t.tall {
		for c := 0; c < k; c += 3 {
			t.byRows[min(3, k-c)-1](&dst.Data[c*dst.Stride+i], uintptr(dst.Stride), &w.Data[i*w.Stride], uintptr(w.Stride), &x.Data[c*x.Stride], uintptr(x.Stride), uintptr(n))
		}
	}
}

// runTrans adds the sums by columns.
func (t *weightedSumsKernels) runTrans(dst, w, x Rows[float64], k, m, n int) {
	for j := 0; j < n; {
		kernels, width := &t.byColumns, t.broad
		if n-j < t.broad {
			kernels, width = &t.eight, 8
		}
		for c := 0; c < k; c += 3 {
			kernels[min(3, k-c)-1](&dst.Data[c*dst.Stride+j], uintptr(dst.Stride), &w.Data[j], uintptr(w.Stride), &x.Data[c*x.Stride], uintptr(x.Stride), uintptr(m))
		}
		j += width
	}
}

func weightedSums64AVX2(dst, w, x Rows[float64], k, m, n int) {
	weightedSumsOfAVX2.run(dst, w, x, k, m, n)
}

func weightedSums64AVX512(dst, w, x Rows[float64], k, m, n int) {
	weightedSumsOfAVX512.run(dst, w, x, k, m, n)
}

func weightedSumsTrans64AVX2(dst, w, x Rows[float64], k, m, n int) {
	weightedSumsOfAVX2.runTrans(dst, w, x, k, m, n)
}

func weightedSumsTrans64AVX512(dst, w, x Rows[float64], k, m, n int) {
	weightedSumsOfAVX512.runTrans(dst, w, x, k, m, n)
}
