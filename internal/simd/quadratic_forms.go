package simd

import "math"

// QuadraticForms evaluates a polynomial of degree 2 without a constant at rows of d columns:
//
//	dst[r] = sum over c < d of y[r][c] (linear[c] + sum over t >= b of m[t][c] y[r][t])
//
// for r < len(dst), where b is c less c%8. m has the blocks of AddMoments, and m[t][c] is
// number 8 (t-b) + c-b of the block from column b on: zeros leave pairs of columns out.
// Without numbers in m the sum in brackets is linear[c].
//
// No product is rounded before it is added. The sum in brackets begins with linear[c] and
// goes on with t = b, b+1, ..., d-1. The outer sum is in 8 lanes, column c in lane c%8, one
// after the other. Lanes are added in halves: 0 to 3 and 4 to 7, down to one. So the bits
// are the same at every level. The error is at most (d + d/8 + 5) 2^-53 times the sum of the
// sizes of all products.
//
// QuadraticForms panics where a slice is too short, and allocates nothing. dst must not
// overlap the others.
func (s *Kernels) QuadraticForms(dst []float64, y Rows[float64], linear, m []float64) {
	d := len(linear)
	switch {
	case len(dst) > 1 && y.Stride < d:
		panic("simd: quadratic forms: bad shape")
	case len(m) != 0 && len(m) < MomentsSize(d):
		panic("simd: quadratic forms: short blocks")
	case len(dst) == 0:
		return
	case d == 0:
		clear(dst)
		return
	case !y.holds(len(dst), d):
		panic("simd: quadratic forms: short slice")
	}
	readsFirst(y, len(dst), d)
	reads(linear)
	reads(m)
	writes(dst)
	s.quadraticForms(dst, y, linear, m)
}

// quadraticFormsGo is the reference.
func quadraticFormsGo(dst []float64, y Rows[float64], linear, m []float64) {
	d := len(linear)
	for r := range dst {
		row, left := y.row(r, d), m
		var lanes [momentColumns]float64
		for b := 0; b < d; b += momentColumns {
			width := min(momentColumns, d-b)
			var sums [momentColumns]float64
			copy(sums[:width], linear[b:])
			if len(m) > 0 {
				for t, v := range row[b:] {
					for l, e := range left[momentColumns*t:][:width] {
						sums[l] = math.FMA(e, v, sums[l])
					}
				}
				left = left[momentColumns*(d-b):]
			}
			for l, v := range row[b:][:width] {
				lanes[l] = math.FMA(v, sums[l], lanes[l])
			}
		}
		for width := momentColumns / 2; width > 0; width /= 2 {
			for l, v := range lanes[width : 2*width] {
				lanes[l] += v
			}
		}
		dst[r] = lanes[0]
	}
}
