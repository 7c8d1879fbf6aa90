package kernel

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A graph that is truncated at a given radius is searched for without a plan. The search
// sorts the points before it finds out how much memory it needs, which takes its time where
// they are many. If a sample of distances was taken before, that tells it at once.

// foreseeCSR, given the sample or nil, refuses csr where its weights clearly do not fit, and asks for their memory
// where they clearly do. In between the search will see.
func foreseeCSR(p *rows.Points, pr *profile, o *innerOptions) error {
	if pr == nil {
		return nil
	}
	n, d := p.N, p.D
	need := func(neighbours float64) int64 { return csrCost(n, d, math.Ceil(neighbours*float64(n)), o).PeakBytes }
	mean, upper := pr.neighbours(o.CutoffRadius)
	// Equal points share a row of weights, so that they have fewer than neighbours.
	if lower := mean - 2*(upper-mean); lower > 0 && pr.equals() == 0 {
		none, entry := requestOf(o, nil, innerBandwidth{}, 0).StoredBytes(n)
		weights := lower * float64(n)
		if float64(searchBytes(n, d, o)+none)+weights*float64(entry)/holders(o, n, weights) > float64(o.BudgetBytes) {
			return tooManyWeights(o, need(mean))
		}
	}
	if most := need(upper); o.Reserve != nil && most <= o.BudgetBytes {
		return o.take("build csr", most)
	}
	return nil
}

// foreseePairs, given the sample or nil, refuses pairs where their list clearly does not fit. Where points are spread
// unevenly the list is longer than the estimate.
func foreseePairs(p *rows.Points, pr *profile, o *innerOptions) error {
	n, d := p.N, p.D
	if pr == nil || d > cellDimensions || pr.equals() > 0 {
		return nil
	}
	const certain = 0.7 // of the estimate
	mean, _ := pr.neighbours(o.CutoffRadius)
	nnz := mean * float64(n)
	list := pairListBytes(n, d, nnz, testedPairs(n, d, nnz))
	if float64(pairsHeld(n, d, o))+certain*list > float64(o.BudgetBytes) {
		return &innerMemoryError{What: "build pairs: list of cluster pairs", Need: pairsCost(n, d, nnz, testedPairs(n, d, nnz), o).PeakBytes, Budget: o.BudgetBytes}
	}
	return nil
}
