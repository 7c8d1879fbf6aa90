// Package codes finds pairs of points within a radius, or the nearest neighbours of
// every point, in many dimensions.
//
// A code is a point rounded to bytes, in a space in which no two points are farther
// apart than they are: points whose codes are farther apart than the radius and the
// rounding are no neighbours. Codes are compared by integer products, 64 at a time, and
// only the pairs they leave have their distances measured. No pair within the radius is
// lost, and neither the pairs nor their weights depend on the number of workers or on
// the level of instructions.
//
//	set.go         the points of a search, in the order it puts them
//	codes.go       codes, and when two of them are near
//	projection.go  points to vectors that are no farther apart
//	directions.go  principal directions of a sample
//	survey.go      which projection costs least, by a sample
//	sample.go      quantiles
//	leaders.go     groups of points that are near to each other
//	arrange.go     an order in which near points are together
//	tiles.go       runs of points in that order, with balls around them
//	filter.go      the pairs within a radius
//	nearest.go     the nearest neighbours
//	tails.go       bounds of the weights beyond the radius
//	search.go      all of these in one call
package codes
