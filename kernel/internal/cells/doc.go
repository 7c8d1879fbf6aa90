// Package cells finds the pairs of points within a radius by a cell list, in up to
// eight dimensions.
//
// A [List] sorts the points by the cells of a grid and cuts them into clusters of at most
// [ClusterPoints] points that are close together. A [Sweep] moves over the clusters and
// names the points that may be within the radius of each. [Search] tests them and
// stores the weights of those that are.
//
//	grid.go    the size of a cell, and its number
//	sort.go    points in the order of their cells
//	list.go    cells, rows of cells and clusters
//	boxes.go   boxes around clusters
//	sweep.go   the cells around a cluster
//	pass.go    distances and weights
//	tails.go   bounds of the weights beyond the radius
//	search.go  all of these in one call
package cells
