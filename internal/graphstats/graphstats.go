// Package graphstats has what benchmarks and tests ask of an operator of package kernel and
// no other caller needs: what its search left, and what its steps move between ranks.
package graphstats

// Search says how many pairs the filters of a search by codes left. It is zero where there
// was no such search, as mostly in few dimensions. A search for nearest neighbours counts all
// points, not distinct ones, and a pair from either side; a pair that it looks at twice counts
// twice, and Measured leaves out the points that the search of a point begins with.
type Search struct {
	// Depth is the number of entries of a code.
	Depth int
	// Pairs counts the pairs of distinct points. Compared counts those whose codes were
	// compared, because one point was near to the ball of the other. Measured counts
	// those whose distance was measured, because their codes were near. Found counts
	// those within the radius.
	Pairs, Compared, Measured, Found int64
}

// SearchOf returns what the search behind an operator left; zeros for one that has searched
// nothing.
func SearchOf(op any) Search {
	if s, ok := op.(interface{ SearchStats() Search }); ok {
		return s.SearchStats()
	}
	return Search{}
}

// Traffic says how many bytes of the iterate a rank receives in a step, by either form of
// exchange. Sums, which are few, are not counted, nor are the moments of poly and the nodes of
// grid, which travel in place of the iterate.
type Traffic struct {
	// Halo is what the rank receives where ranks exchange the rows that their weights refer
	// to; 0 where the operator has no such form.
	Halo int64
	// Gather is what it receives where every rank gets all rows.
	Gather int64
	// Overlapped tells that steps use the first form, and make other rows meanwhile.
	Overlapped bool
}

// TrafficOf returns what this rank receives in a step of k columns in float32.
func TrafficOf(op any, k int) Traffic {
	return op.(interface{ Traffic(k int) Traffic }).Traffic(k)
}
