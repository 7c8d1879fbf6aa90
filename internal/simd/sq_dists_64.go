package simd

import "math"

// SqDists64 is SqDists in float64, without a limit. Differences of float32 are rounded to
// float64. Their squares are not rounded before they are added, in 16 lanes: column c to
// lane c%16. Lanes are added in halves: 0 to 7 and 8 to 15, down to one. So the bits are
// the same at every level. The error is at most (d/16 + 8) 2^-53 times the squared
// distance.
//
// SqDists64 panics where SqDists does, and allocates nothing.
func (s *Kernels) SqDists64(dst []float64, x []float32, rows Rows[float32], index []uint32) {
	if len(dst) < len(index) || rows.Stride < len(x) {
		panic("simd: sq dists 64: bad shape")
	}
	if len(index) == 0 {
		return
	}
	for _, i := range []uint32{index[0], index[len(index)-1]} {
		if uint64(i) >= math.MaxInt || !rows.holds(int(i)+1, len(x)) {
			panic("simd: sq dists 64: short slice")
		}
	}
	reads(x)
	reads(index)
	readsRows(rows, len(x), index)
	writes(dst[:len(index)])
	s.sqDists64(dst, x, rows, index)
}

// sqDists64Go is the reference.
func sqDists64Go(dst []float64, x []float32, rows Rows[float32], index []uint32) {
	for m, i := range index {
		dst[m] = sqDist64Go(x, rows.row(int(i), len(x)))
	}
}

func sqDist64Go(x, y []float32) float64 {
	var lanes [16]float64
	for c, v := range x {
		e := float64(v) - float64(y[c])
		lanes[c%16] = math.FMA(e, e, lanes[c%16])
	}
	for width := 8; width > 0; width /= 2 {
		for l, v := range lanes[width : 2*width] {
			lanes[l] += v
		}
	}
	return lanes[0]
}
