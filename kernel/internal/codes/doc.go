// Package codes finds pairs of points within a radius, or the nearest neighbours of
// every point, in many dimensions.
//
// A projection takes points to vectors that are no farther apart than the points. A code
// is such a vector rounded to bytes. Points whose codes are farther apart than the radius
// and the rounding are no neighbours. Codes are compared by integer products, 64 at a
// time, and distances are measured only of the pairs that codes leave. No pair within the
// radius is lost, and neither the pairs nor their weights depend on the number of workers
// or on the level of instructions.
//
// The set of a search is its distinct points. A search puts them in an order of its own,
// in which near points are together; the place of a point is its number in this order. A
// group is points next to each other in the order that are near to each other. A tile is
// at most 64 points next to each other, and its ball encloses their codes. A bundle is
// tiles next to each other. A piece is a part of the work that one worker does at a time.
//
// Ranks may share a search. All have the points, which each needs for the survey, the order
// and the distances; so what goes around the ring of ranks is not tiles of points but the
// tiles of the half matrix that each has found, to the ranks that make their rows.
//
//	sample.go        quantiles
//	codes.go         codes, and when two codes are near
//	projection.go    points to vectors that are no farther apart
//	directions.go    principal directions of a sample
//	survey.go        which projection costs least, by a sample
//	leaders.go       groups of points around a leader
//	arrange.go       an order in which near points are together
//	products.go      bounds of many distances at a time, of long rows
//	ranked.go        numbers of some ranks, where bounds of all are known
//	tiles.go         runs of points in the order, with balls around them
//	set.go           the points of a search, in its order
//	checker.go       whether two points are within a radius
//	tails.go         bounds of the weights beyond the radius
//	filter.go        the pairs within a radius
//	nearest.go       the nearest neighbours, found and kept or given away
//	nearest_pass.go  the pass that finds them
//	share.go         which rank does what
//	crowds.go        many equal rows, of which few can be neighbours
//	search.go        the pairs within a radius and their weights, in one call
//	seconds.go       what a search is expected to cost
package codes
