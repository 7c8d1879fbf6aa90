package simd

// WordDots multiplies rows of words with columns of words, modulo 2^32:
//
//	dst[i*columns+c] = sum over t < depth of a[i*depth+t] * b[c*depth+t]
//
// for len(a)/depth rows i and len(b)/depth columns c. All levels give the same bits, and their
// time does not depend on the words. WordDots panics where shapes do not fit and allocates
// nothing.
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
		c := 0
		for ; c+4 <= columns; c += 4 { // a row is read once for four columns
			b0, b1, b2, b3 := b[c*depth:][:len(row)], b[(c+1)*depth:][:len(row)], b[(c+2)*depth:][:len(row)], b[(c+3)*depth:][:len(row)]
			var sum0, sum1, sum2, sum3 uint32
			for t, v := range row {
				sum0 += v * b0[t]
				sum1 += v * b1[t]
				sum2 += v * b2[t]
				sum3 += v * b3[t]
			}
			to := dst[i*columns+c:][:4]
			to[0], to[1], to[2], to[3] = sum0, sum1, sum2, sum3
		}
		for ; c < columns; c++ {
			column := b[c*depth:][:len(row)]
			var sum uint32
			for t, v := range row {
				sum += v * column[t]
			}
			dst[i*columns+c] = sum
		}
	}
}
