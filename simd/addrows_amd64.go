//go:build gc && !noasm && !purego

package simd

func addRowsAVX2(dst, v, x []float64, stride int) {
	addRowsF64AVX2(&dst[0], uintptr(len(dst)), &v[0], uintptr(len(v)), &x[0], uintptr(stride))
}

func addRowsAVX512(dst, v, x []float64, stride int) {
	addRowsF64AVX512(&dst[0], uintptr(len(dst)), &v[0], uintptr(len(v)), &x[0], uintptr(stride))
}
