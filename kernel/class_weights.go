package kernel

// classWeights is the table over the classes at hand, K = constant 11' + band:
// row c of the band holds the columns first[c] to first[c] + len(row) - 1.
type classWeights struct {
	constant float64
	first    []int
	ptr      []int
	val      []float64
	minimum  float64 // smallest weight between two rows, 0 at most
}

func (w *classWeights) row(c int) []float64 { return w.val[w.ptr[c]:w.ptr[c+1]] }

// mulTo sets dst = K s for the classes x k matrix s. total is scratch of k
// values; dst and s must not overlap.
func (w *classWeights) mulTo(dst, s, total []float64, k int) {
	clear(total)
	if w.constant != 0 {
		for c := range w.first {
			for j, v := range s[c*k:][:k] {
				total[j] += w.constant * v
			}
		}
	}
	for c := range w.first {
		out := dst[c*k:][:k]
		copy(out, total)
		for e, weight := range w.row(c) {
			for j, v := range s[(w.first[c]+e)*k:][:k] {
				out[j] += weight * v
			}
		}
	}
}
