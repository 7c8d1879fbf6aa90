// Package lattice interpolates the Gaussian kernel on a lattice of cells, in up to
// [MaxAxes] dimensions, for the operator grid of package kernel.
//
// A [Lattice] splits the box around the points into equal cells, each with the same number
// of Chebyshev nodes along every axis. A product with the kernel has three steps. It takes
// numbers from the points to the nodes of their cells, from there to the nodes of the cells
// in reach, and from nodes back to points. A [Transfer] is the second step: the kernel
// between nodes is a product over the axes.
//
// A cell is a cell of the lattice, and a tile is all nodes of one cell. A piece is a part
// of the work that one worker does at a time. A slab is the cells with one number along the
// first axis: they are next to each other in the order of cells, so ranks, which share cells
// by that order, need no more than their own slabs and those in reach.
//
//	lattice.go   cells, and points sorted by cells
//	nodes.go     nodes, the interpolation between nodes, and the bounds of its error
//	transfer.go  from nodes to nodes
//	part.go      the same for some of the cells
package lattice
