package simd

// RoundToBytes rounds a point to a code of bytes: code[c] is the integer from -127 to 127
// nearest to
//
//	v = (x[c] - centre[c]) * inverse,
//
// or the even one of two equally near. missed is the sum of the squares of v - code[c],
// squares is the sum of the squares of the code, and sum is the sum of the code.
//
// Differences, products and squares are each rounded to float64. Squares are added in 8
// lanes, column c to lane c%8, and lanes in halves, 0 to 3 and 4 to 7, down to one. So the
// bits are the same at every level. The numbers given must be finite; if a v is not
// finite, missed is not either.
//
// x has at most 2^16 columns, and centre and code as many as x; otherwise RoundToBytes
// panics. It allocates nothing.
func (s *Kernels) RoundToBytes(code []int8, x, centre []float32, inverse float64) (missed float64, squares, sum int32) {
	if len(x) > 1<<16 || len(centre) != len(x) || len(code) != len(x) {
		panic("simd: round to bytes: bad shape")
	}
	reads(x)
	reads(centre)
	writes(code)
	return s.roundToBytes(code, x, centre, inverse)
}

// roundToBytesGo is the reference.
func roundToBytesGo(code []int8, x, centre []float32, inverse float64) (missed float64, squares, sum int32) {
	var r byteRounding
	r.add(code, x, centre, inverse)
	return r.sums()
}

// A byteRounding holds the sums of RoundToBytes.
type byteRounding struct {
	lanes        [8]float64
	squares, sum int32
}

// add rounds columns; the first is in lane 0.
func (r *byteRounding) add(code []int8, x, centre []float32, inverse float64) {
	const toInteger = 0x1.8p52 // adding and subtracting it rounds
	centre, code = centre[:len(x)], code[:len(x)]
	for c, v := range x {
		u := float64(float64(float64(v)-float64(centre[c])) * inverse)
		q := u
		if q > 127 {
			q = 127
		} else if q < -127 {
			q = -127
		}
		q = (q + toInteger) - toInteger
		e, n := u-q, int32(q)
		r.lanes[c%8] += float64(e * e)
		code[c] = int8(n)
		r.squares += n * n
		r.sum += n
	}
}

// sums returns the results of RoundToBytes.
func (r *byteRounding) sums() (missed float64, squares, sum int32) {
	for width := 4; width > 0; width /= 2 {
		for l, v := range r.lanes[width : 2*width] {
			r.lanes[l] += v
		}
	}
	return r.lanes[0], r.squares, r.sum
}
