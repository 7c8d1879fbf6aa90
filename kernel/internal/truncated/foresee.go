package truncated

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A graph that is truncated at a given radius is searched for without a plan. The search
// sorts the points before it finds out how much memory it needs, which takes its time where
// they are many. If a sample of distances was taken before, that tells it at once.

// ForeseeCSR, given the sample or nil, refuses csr where its weights clearly do not fit, and asks
// for their memory where they clearly do. In between the search will see.
func ForeseeCSR(p *rows.Points, pr *profile.Profile, o *base.Options) error {
	if pr == nil {
		return nil
	}
	n, d := p.N, p.D
	need := func(neighbours float64) int64 { return CSRCost(n, d, math.Ceil(neighbours*float64(n)), o).PeakBytes }
	mean, upper := pr.Neighbours(o.CutoffRadius)
	// Equal points share a row of weights, so that they have fewer than neighbours.
	if lower := mean - 2*(upper-mean); lower > 0 && pr.Equals() == 0 {
		none, entry := graph.RequestOf(o, nil, base.Bandwidth{}, 0).StoredBytes(n)
		weights := lower * float64(n)
		if float64(graph.SearchBytes(n, d, o)+none)+weights*float64(entry)/holders(o, n, weights) > float64(o.MaxMemory) {
			return graph.TooManyWeights(o, need(mean), false)
		}
	}
	if most := need(upper); o.Reserve != nil && most <= o.MaxMemory {
		return o.Take("build csr", most)
	}
	return nil
}

// ForeseePairs, given the sample or nil, refuses pairs where their list clearly does not fit. Where points are spread
// unevenly the list is longer than the estimate.
func ForeseePairs(p *rows.Points, pr *profile.Profile, o *base.Options) error {
	n, d := p.N, p.D
	if pr == nil || d > graph.CellDimensions || pr.Equals() > 0 {
		return nil
	}
	const certain = 0.7 // of the estimate
	mean, _ := pr.Neighbours(o.CutoffRadius)
	nnz := mean * float64(n)
	list := PairListBytes(n, d, nnz, TestedPairs(n, d, nnz))
	if float64(pairsHeld(n, d, o))+certain*list > float64(o.MaxMemory) {
		return &base.MemoryError{What: "build pairs: list of cluster pairs", Need: pairsCost(n, d, nnz, TestedPairs(n, d, nnz), o).PeakBytes, Limit: o.MaxMemory}
	}
	return nil
}
