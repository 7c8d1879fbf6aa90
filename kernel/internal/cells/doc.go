// Package cells finds the pairs of points within a radius by a cell list, in few
// dimensions.
//
// A [List] sorts the points by the cells of a grid and splits them into clusters of at most
// [ClusterPoints] points that are close together. A [Sweep] moves over the clusters and
// names the candidates of each: the points that may be within the radius of its points.
// [Search] tests the candidates and stores the weights of the neighbours among them.
//
// A cell is a cell of the grid, and a row is a row of cells along the last axis of the
// grid. A piece is a part of the work that one worker does at a time.
//
//	cell_size.go  the size of a cell
//	keys.go       the number of a cell
//	boxes.go      boxes around clusters
//	list.go       cells, rows of cells and clusters
//	sort.go       points in the order of their cells
//	build.go      a list of some points
//	sweep.go      the cells around a cluster
//	sample.go     how many neighbours some clusters have
//	pass.go       distances and weights
//	tails.go      bounds of the weights beyond the radius
//	search.go     all of these in one call
//	share.go      which rank does what
//	seconds.go    what a search is expected to cost
package cells
