package client

import (
	"cmp"
	"math"
	"slices"
)

// nearest keeps the k nearest of the rows it is offered, each number once and at its
// least distance. Distances are squared. How long that takes depends on them: it is for a client
// that sends nothing afterwards.
type nearest struct {
	k    int
	kept []Match // those k and some more
	full bool    // k were found, and last is the last of them
	last Match
}

// spareMatches is how many are kept beyond k, at least, before they are sorted.
const spareMatches = 256

func (n *nearest) take(m Match) {
	if n.full && compare(m, n.last) > 0 {
		return
	}
	n.kept = append(n.kept, m)
	if len(n.kept)-n.k >= max(n.k, spareMatches) {
		n.cut()
	}
}

// cut leaves the k nearest, sorted.
func (n *nearest) cut() {
	slices.SortFunc(n.kept, compare)
	seen := make(map[int64]bool)
	n.kept = slices.DeleteFunc(n.kept, func(m Match) bool {
		again := seen[m.ID]
		seen[m.ID] = true
		return again
	})
	if len(n.kept) >= n.k {
		n.kept = n.kept[:n.k]
		n.full, n.last = true, n.kept[n.k-1]
	}
}

// matches returns the k nearest at their distances.
func (n *nearest) matches() []Match {
	n.cut()
	for i := range n.kept {
		n.kept[i].Distance = math.Sqrt(n.kept[i].Distance)
	}
	return n.kept
}

func compare(a, b Match) int {
	return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
}
