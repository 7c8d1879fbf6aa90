//go:build gc && !noasm && !purego

package simd

func finishRowsAVX2(dst []float32, dstStride int, x []float32, stride int, wx []float64, rows []FinishRow, mean []float64, pull float64, targets, sums, class []float64, acc *FinishSums) {
	finishRowsF32AVX2(&dst[0], uintptr(dstStride), &x[0], uintptr(stride), &wx[0], uintptr(len(mean)), &rows[0].Degree, uintptr(len(rows)),
		&mean[0], pull, &targets[0], &sums[0], &class[0], &acc.Objective[0])
}
