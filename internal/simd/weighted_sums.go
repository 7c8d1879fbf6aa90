package simd

import "math"

// WeightedSums64 adds sums of columns, weighted by the rows of a block of weights:
//
//	dst[c][i] += sum over j < n of w[i][j] x[c][j]
//
// for i < m and c < k, where [c][i] is number i of row c. The columns are rows of x and of
// dst. m and n are multiples of 8: pad the weights with zeros. Products are not rounded
// before they are added. A sum has 8 lanes, with j in lane j%8; lanes are added in halves,
// 0 to 3 and 4 to 7, down to one, and then to dst. So the bits are the same at every level.
// WeightedSums64 panics where a slice is too short, and allocates nothing. dst must not
// overlap w or x.
func (s *Kernels) WeightedSums64(dst, w, x Rows[float64], k, m, n int) {
	if checkWeightedSums(dst, w, x, k, m, n, m, n) {
		s.weightedSums64(dst, w, x, k, m, n)
	}
}

// WeightedSumsTrans64 is WeightedSums64 with the columns of the block:
//
//	dst[c][j] += sum over i < m of w[i][j] x[c][i]
//
// for j < n and c < k. Products are not rounded before they are added, and are added to dst
// one by one, in the order of i.
func (s *Kernels) WeightedSumsTrans64(dst, w, x Rows[float64], k, m, n int) {
	if checkWeightedSums(dst, w, x, k, m, n, n, m) {
		s.weightedSumsTrans64(dst, w, x, k, m, n)
	}
}

// checkWeightedSums panics where a slice is too short for sums over the given numbers,
// and reports whether there is anything to add.
func checkWeightedSums(dst, w, x Rows[float64], k, m, n, sums, terms int) bool {
	switch {
	case k < 0 || m < 0 || n < 0 || m%8 != 0 || n%8 != 0 || dst.Stride < sums || w.Stride < n || x.Stride < terms:
		panic("simd: weighted sums 64: bad shape")
	case k == 0 || m == 0 || n == 0:
		return false
	case !dst.holds(k, sums) || !w.holds(m, n) || !x.holds(k, terms):
		panic("simd: weighted sums 64: short slice")
	}
	readsFirst(w, m, n)
	readsFirst(x, k, terms)
	writesFirst(dst, k, sums)
	return true
}

// weightedSums64Go is the reference.
func weightedSums64Go(dst, w, x Rows[float64], k, m, n int) {
	for i := range m {
		weights := w.row(i, n)
		for c := range k {
			dst.Data[c*dst.Stride+i] += weightedSumGo(weights, x.row(c, n))
		}
	}
}

func weightedSumGo(w, x []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(w) >= 8 && len(x) >= 8 {
		a, b := (*[8]float64)(w), (*[8]float64)(x)
		s0, s1, s2, s3 = math.FMA(a[0], b[0], s0), math.FMA(a[1], b[1], s1), math.FMA(a[2], b[2], s2), math.FMA(a[3], b[3], s3)
		s4, s5, s6, s7 = math.FMA(a[4], b[4], s4), math.FMA(a[5], b[5], s5), math.FMA(a[6], b[6], s6), math.FMA(a[7], b[7], s7)
		w, x = w[8:], x[8:]
	}
	return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

// weightedSumsTrans64Go is the reference.
func weightedSumsTrans64Go(dst, w, x Rows[float64], k, m, n int) {
	for c := range k {
		out, factors := dst.row(c, n), x.row(c, m)
		for i, f := range factors {
			for j, v := range w.row(i, n) {
				out[j] = math.FMA(v, f, out[j])
			}
		}
	}
}
