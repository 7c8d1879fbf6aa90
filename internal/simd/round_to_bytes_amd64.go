//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func roundToBytesAVX2(code []int8, x, centre []float32, inverse float64) (missed float64, squares, sum int32) {
	return roundToBytesIn(code, x, centre, inverse, false)
}

func roundToBytesAVX512(code []int8, x, centre []float32, inverse float64) (missed float64, squares, sum int32) {
	return roundToBytesIn(code, x, centre, inverse, true)
}

// roundToBytesIn leaves columns that do not fill the lanes to the loop of roundToBytesGo.
func roundToBytesIn(code []int8, x, centre []float32, inverse float64, avx512 bool) (missed float64, squares, sum int32) {
	var r byteRounding
	if n := len(x) / 8 * 8; n > 0 {
		var counts [8]int32
		if avx512 {
			asm.RoundToBytesAVX512(&code[0], &x[0], &centre[0], uintptr(n), inverse, &r.lanes[0], &counts[0])
		} else {
			asm.RoundToBytesAVX2(&code[0], &x[0], &centre[0], uintptr(n), inverse, &r.lanes[0], &counts[0])
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
