package simd

// WordDots multiplies rows of words with columns of words, modulo 2^32:
//
//	dst[i*columns+c] = sum over t < depth of a[i*depth+t] * b[c*depth+t]
//
// for len(a)/depth rows i and len(b)/depth columns c. All levels give the same bits, and the time
// that they take does not depend on the words. WordDots panics where shapes do not fit and
// allocates nothing.
func (s *Kernels) WordDots(dst, a, b []uint32, depth int) {
	if depth <= 0 || len(a)%depth != 0 || len(b)%depth != 0 || len(dst) < len(a)/depth*(len(b)/depth) {
		panic("simd: word dots: bad shape")
	}
	reads(a)
	reads(b)
	writes(dst[:len(a)/depth*(len(b)/depth)])
	s.wordDots(dst, a, b, depth)
}

// wordDotsGo is the reference.
func wordDotsGo(dst, a, b []uint32, depth int) {
	columns := len(b) / depth
	for i := range len(a) / depth {
		row := a[i*depth : (i+1)*depth]
		for c := range columns {
			column := b[c*depth : (c+1)*depth]
			var sum uint32
			for t, v := range row {
				sum += v * column[t]
			}
			dst[i*columns+c] = sum
		}
	}
}
