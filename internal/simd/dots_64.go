package simd

import "math"

// Dots64 is Dots in float64: number j of row i of dst becomes the dot product of row i of
// a, which has na, with row j of b, which has nb. The rows of a and b have d numbers.
//
// Products are not rounded before they are added. They are added in the order of the
// columns, to a sum that begins with 0. So the bits are the same at every level, and the
// product of two rows has the same bits whichever of them is in a. The error is at most
// d 2^-53/(1 - d 2^-53) times the sum of |a_i b_j| over the columns.
//
// Dots64 is worthwhile with many rows on both sides: it packs rows into scratch memory, 290 KB a
// call, which is kept for later calls. It panics where a slice is too short. dst must not overlap a
// or b.
func (s *Kernels) Dots64(dst, a, b Rows[float64], na, nb, d int) {
	switch {
	case na < 0 || nb < 0 || d < 0 || a.Stride < d || b.Stride < d || dst.Stride < nb:
		panic("simd: dots 64: bad shape")
	case na == 0 || nb == 0:
		return
	case !dst.holds(na, nb) || !a.holds(na, d) || !b.holds(nb, d):
		panic("simd: dots 64: short slice")
	}
	readsFirst(a, na, d)
	readsFirst(b, nb, d)
	writesFirst(dst, na, nb)
	s.dots64(dst, a, b, na, nb, d)
}

// dots64Go is the reference. It computes four sums at a time, which do not wait for each other.
func dots64Go(dst, a, b Rows[float64], na, nb, d int) {
	for i := range na {
		row, out := a.row(i, d), dst.row(i, nb)
		j := 0
		for ; j+4 <= nb; j += 4 {
			b0, b1, b2, b3 := b.row(j, d), b.row(j+1, d), b.row(j+2, d), b.row(j+3, d)
			var s0, s1, s2, s3 float64
			for c, v := range row {
				s0 = math.FMA(v, b0[c], s0)
				s1 = math.FMA(v, b1[c], s1)
				s2 = math.FMA(v, b2[c], s2)
				s3 = math.FMA(v, b3[c], s3)
			}
			out[j], out[j+1], out[j+2], out[j+3] = s0, s1, s2, s3
		}
		for ; j < nb; j++ {
			sum := 0.0
			for c, v := range b.row(j, d) {
				sum = math.FMA(row[c], v, sum)
			}
			out[j] = sum
		}
	}
}
