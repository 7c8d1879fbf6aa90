//go:build gc && !noasm && !purego

package simd

func finiteAVX2(x []float32) bool {
	n := len(x) &^ 31
	if n > 0 && largestF32AVX2(&x[0], uintptr(n)) >= infinite {
		return false
	}
	return finiteGo(x[n:])
}
