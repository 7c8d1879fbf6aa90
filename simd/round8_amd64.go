//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/simd/internal/asm"

func round8AVX2(code []int8, x, centre []float32, inverse float64) (missed float64, squares, sum int32) {
	return round8In(code, x, centre, inverse, false)
}

func round8AVX512(code []int8, x, centre []float32, inverse float64) (missed float64, squares, sum int32) {
	return round8In(code, x, centre, inverse, true)
}

// round8In leaves the columns that do not fill the lanes to round8Go's loop.
func round8In(code []int8, x, centre []float32, inverse float64, avx512 bool) (missed float64, squares, sum int32) {
	var r rounded8
	if n := len(x) / 8 * 8; n > 0 {
		var counts [8]int32
		if avx512 {
			asm.Round8BlocksAVX512(&code[0], &x[0], &centre[0], uintptr(n), inverse, &r.lanes[0], &counts[0])
		} else {
			asm.Round8BlocksAVX2(&code[0], &x[0], &centre[0], uintptr(n), inverse, &r.lanes[0], &counts[0])
		}
		for p, v := range counts[:4] {
			r.squares += v
			r.sum += counts[4+p]
		}
		code, x, centre = code[n:], x[n:], centre[n:]
	}
	r.add(code, x, centre, inverse)
	return r.sums()
}
