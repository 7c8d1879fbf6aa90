package step

// MulRow multiplies one row, given by its columns and values, in float64. It sets acc
// to the product with the first len(acc) columns of x. Each sum is in float64 and in
// stored order, so the sum of a column does not depend on how many others are computed
// with it. The caller must have checked the shapes; MulRow panics where they do not
// fit.
func MulRow[V, X float32 | float64](acc []float64, ind []uint32, val []V, x []X, stride int) {
	val = val[:len(ind)]
	c := 0
	// Columns are taken in groups that fit the registers; the row's indices stay in the
	// first-level cache between groups.
	for ; c+8 <= len(acc); c += 8 {
		var s0, s1, s2, s3, s4, s5, s6, s7 float64
		for p, j := range ind {
			w := float64(val[p])
			r := x[int(j)*stride+c:][:8]
			s0 += w * float64(r[0])
			s1 += w * float64(r[1])
			s2 += w * float64(r[2])
			s3 += w * float64(r[3])
			s4 += w * float64(r[4])
			s5 += w * float64(r[5])
			s6 += w * float64(r[6])
			s7 += w * float64(r[7])
		}
		*(*[8]float64)(acc[c:]) = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	}
	for ; c+2 <= len(acc); c += 2 {
		var s0, s1 float64
		for p, j := range ind {
			w := float64(val[p])
			r := x[int(j)*stride+c:][:2]
			s0 += w * float64(r[0])
			s1 += w * float64(r[1])
		}
		acc[c], acc[c+1] = s0, s1
	}
	if c < len(acc) {
		s := 0.0
		for p, j := range ind {
			s += float64(val[p]) * float64(x[int(j)*stride+c])
		}
		acc[c] = s
	}
}
