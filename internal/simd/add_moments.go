package simd

import "math"

// momentColumns is the number of columns in a block of AddMoments and QuadraticForms.
const momentColumns = 8

// MomentsSize returns how many numbers AddMoments keeps for rows of d columns. There is a
// block for every 8 columns, starting at column b. It has 8 numbers for each column t
// from b to d-1: number l belongs to the pair of columns b+l and t. Where the last block
// has fewer than 8 columns, the remaining numbers are zero.
func MomentsSize(d int) int {
	size := 0
	for b := 0; b < d; b += momentColumns {
		size += momentColumns * (d - b)
	}
	return size
}

// AddMoments adds the weighted products of pairs of columns of y to dst: for every block,
// from column b on, each of its columns b+l < d and each column t >= b
//
//	dst[t-b][l] += y[r][t] (w[r] y[r][b+l])    for r = 0, 1, ..., len(w)-1, one after the other
//
// where [t-b][l] is number 8 (t-b) + l of the block. MomentsSize describes the layout of the
// blocks. The product in brackets is rounded, the other is not rounded before it is added:
// the bits are the same at every level. A number of dst that was zero before is off by at
// most (len(w)+1) 2^-53/(1 - (len(w)+1) 2^-53) times the sum of its |y w y|. Pairs of columns
// of one block are stored twice, with different bits.
//
// AddMoments panics where a slice is too short, and allocates nothing. dst must not overlap
// the others.
func (s *Kernels) AddMoments(dst []float64, y Rows[float64], w []float64, d int) {
	switch rows := len(w); {
	case d < 0 || rows > 1 && y.Stride < d:
		panic("simd: add moments: bad shape")
	case len(dst) < MomentsSize(d):
		panic("simd: add moments: short destination")
	case rows == 0 || d == 0:
		return
	case !y.holds(rows, d):
		panic("simd: add moments: short slice")
	}
	readsFirst(y, len(w), d)
	reads(w)
	writes(dst[:MomentsSize(d)])
	s.addMoments(dst, y, w, d)
}

// addMomentsGo is the reference.
func addMomentsGo(dst []float64, y Rows[float64], w []float64, d int) {
	for b := 0; b < d; b += momentColumns {
		width := min(momentColumns, d-b)
		for r, weight := range w {
			row := y.row(r, d)
			var weighted [momentColumns]float64
			for l, v := range row[b:][:width] {
				weighted[l] = weight * v
			}
			for t, v := range row[b:] {
				sums := dst[momentColumns*t:][:momentColumns]
				for l, e := range weighted[:width] {
					sums[l] = math.FMA(v, e, sums[l])
				}
			}
		}
		dst = dst[momentColumns*(d-b):]
	}
}
