//go:build gc && !noasm && !purego

package simd

func widenAVX2(lo, hi, x []float32) {
	n := len(x) &^ 31
	if n > 0 {
		widenF32AVX2(&lo[0], &hi[0], &x[0], uintptr(n))
	}
	widenGo(lo[n:], hi[n:], x[n:])
}
