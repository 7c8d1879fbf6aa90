package step

// ClassWeights is the table over the classes at hand, K = constant 11' + band:
// row c of the band holds the columns first[c] to first[c] + len(row) - 1.
type ClassWeights struct {
	Constant float64
	First    []int
	Ptr      []int
	Val      []float64
	Minimum  float64 // smallest weight between two rows, 0 at most
}

// Row returns the band of row c.
func (w *ClassWeights) Row(c int) []float64 { return w.Val[w.Ptr[c]:w.Ptr[c+1]] }

// MulTo sets dst = K s for the classes x k matrix s. total is scratch of k
// values; dst and s must not overlap.
func (w *ClassWeights) MulTo(dst, s, total []float64, k int) {
	clear(total)
	if w.Constant != 0 {
		for c := range w.First {
			for j, v := range s[c*k:][:k] {
				total[j] += w.Constant * v
			}
		}
	}
	for c := range w.First {
		out := dst[c*k:][:k]
		copy(out, total)
		for e, weight := range w.Row(c) {
			for j, v := range s[(w.First[c]+e)*k:][:k] {
				out[j] += weight * v
			}
		}
	}
}
