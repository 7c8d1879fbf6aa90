// Package lattice interpolates the Gaussian kernel on a lattice of cells, in up to
// [MaxAxes] dimensions, for the operator grid of package kernel.
//
// A [Lattice] cuts the box around the points into equal cells, each with the same number
// of Chebyshev nodes along every axis. A product takes numbers from points to the nodes
// of their cells, from nodes to the nodes of cells in reach, and from nodes back to
// points. A [Transfer] is the middle one of the three: the kernel between nodes is a
// product over the axes.
//
//	lattice.go   cells, and points sorted by them
//	nodes.go     nodes, the interpolation between them, and the bounds of its error
//	transfer.go  from nodes to nodes
package lattice
