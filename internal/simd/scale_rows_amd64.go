//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// Plain Go handles the columns that do not fill the vectors.

func largestDifferenceAVX2(x []float32, mean []float64) (most float64) {
	n := len(x) &^ 7
	if n > 0 {
		most = asm.LargestDifferenceAVX2(&x[0], &mean[0], uintptr(n))
	}
	if n < len(x) {
		most = max(most, largestDifferenceGo(x[n:], mean[n:]))
	}
	return most
}

func scaleDifferencesAVX2(dst, x []float32, mean []float64, scale float64) {
	n := len(x) &^ 7
	if n > 0 {
		asm.ScaleDifferencesAVX2(&dst[0], &x[0], &mean[0], uintptr(n), scale)
	}
	if n < len(x) {
		scaleDifferencesGo(dst[n:], x[n:], mean[n:], scale)
	}
}

func scaleProductsAVX2(dst, x []float32, scale float64, columns []float64) {
	n := len(x) &^ 7
	if n > 0 {
		asm.ScaleProductsAVX2(&dst[0], &x[0], &columns[0], uintptr(n), scale)
	}
	if n < len(x) {
		scaleProductsGo(dst[n:], x[n:], scale, columns[n:])
	}
}

func scaleRowAVX2(dst, x []float32, scale float64) {
	n := len(x) &^ 7
	if n > 0 {
		asm.ScaleRowAVX2(&dst[0], &x[0], uintptr(n), scale)
	}
	if n < len(x) {
		scaleRowGo(dst[n:], x[n:], scale)
	}
}

func largestDifferenceAVX512(x []float32, mean []float64) (most float64) {
	n := len(x) &^ 7
	if n > 0 {
		most = asm.LargestDifferenceAVX512(&x[0], &mean[0], uintptr(n))
	}
	if n < len(x) {
		most = max(most, largestDifferenceGo(x[n:], mean[n:]))
	}
	return most
}

func scaleDifferencesAVX512(dst, x []float32, mean []float64, scale float64) {
	n := len(x) &^ 7
	if n > 0 {
		asm.ScaleDifferencesAVX512(&dst[0], &x[0], &mean[0], uintptr(n), scale)
	}
	if n < len(x) {
		scaleDifferencesGo(dst[n:], x[n:], mean[n:], scale)
	}
}

func scaleProductsAVX512(dst, x []float32, scale float64, columns []float64) {
	n := len(x) &^ 7
	if n > 0 {
		asm.ScaleProductsAVX512(&dst[0], &x[0], &columns[0], uintptr(n), scale)
	}
	if n < len(x) {
		scaleProductsGo(dst[n:], x[n:], scale, columns[n:])
	}
}

func scaleRowAVX512(dst, x []float32, scale float64) {
	n := len(x) &^ 7
	if n > 0 {
		asm.ScaleRowAVX512(&dst[0], &x[0], uintptr(n), scale)
	}
	if n < len(x) {
		scaleRowGo(dst[n:], x[n:], scale)
	}
}
