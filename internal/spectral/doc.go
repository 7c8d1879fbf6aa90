// Package spectral makes maps of clusters for the Engine: [Converge] returns the leading
// eigenvectors of a graph, by subspace iteration with a Chebyshev filter, and [Arrange] arranges
// them in few columns.
//
// Ranks that share the operator share the products of Converge, and each does all the work
// between them.
//
// # References
//
// Zhou, Saad, "A Chebyshev-Davidson algorithm for large symmetric eigenproblems"
// (2007), section 3, for the filter; Stathopoulos, Wu, "A block orthogonalization
// procedure with constant synchronization requirements" (2002), for the basis of
// a block.
package spectral
