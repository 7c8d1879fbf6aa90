package baseline

import "math"

// conditional turns squared distances to neighbours into the conditional
// probabilities p_j ~ exp(-beta d_j) whose entropy is ln(perplexity), in place.
// beta is found by bisection; it does not exist when all neighbours are equally
// near, and then they are equally likely.
func conditional(p []float64, perplexity float64) {
	target := math.Log(perplexity)
	least := math.Inf(1)
	for _, d := range p {
		least = min(least, d)
	}
	weights := make([]float64, len(p))
	entropy := func(beta float64) float64 {
		sum, mean := 0.0, 0.0
		for j, d := range p {
			weights[j] = math.Exp(-beta * (d - least))
			sum += weights[j]
			mean += float64(weights[j] * (d - least))
		}
		for j := range weights {
			weights[j] /= sum
		}
		return math.Log(sum) + beta*mean/sum
	}
	low, high := 0.0, 1.0
	for range 100 { // entropy falls with beta
		if entropy(high) < target {
			break
		}
		low, high = high, 2*high
	}
	for range 60 {
		middle := low + (high-low)/2
		if entropy(middle) > target {
			low = middle
		} else {
			high = middle
		}
	}
	entropy(low + (high-low)/2)
	copy(p, weights)
}

// neighbour is an entry of the symmetric matrix of affinities.
type neighbour struct {
	row int32
	p   float64
}

// symmetric returns the affinities (p_ij + p_ji)/2n as lists by row; index and p
// hold k neighbours for each row.
func symmetric(index []int, p []float64, k int) [][]neighbour {
	n := len(index) / k
	out := make([][]neighbour, n)
	for i := range n {
		for a := range k {
			j, v := index[i*k+a], p[i*k+a]/(2*float64(n))
			out[i] = addTo(out[i], j, v)
			out[j] = addTo(out[j], i, v)
		}
	}
	return out
}

func addTo(list []neighbour, row int, p float64) []neighbour {
	for a := range list {
		if int(list[a].row) == row {
			list[a].p += p
			return list
		}
	}
	return append(list, neighbour{int32(row), p})
}
