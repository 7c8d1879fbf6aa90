// Package rows is what the neighbour searches of package kernel share: what goes into
// a search and what comes out of it.
//
// [Points] are the rows of features that a search reads. Package kernel has checked them
// and knows the box around them. A [Request] asks for the pairs within a radius and their
// weights. A [Result] is the matrix of weights, with the order of its rows, the sum of
// each row, and a bound of the weight that was left out of each row. Packages cells and
// codes answer requests; package kernel makes operators of results.
//
// A [Writer] stores rows of weights as they are found. It hands them over in pieces, which
// do not depend on the number of workers. [Request.Mirror] makes a symmetric matrix of its
// upper half. [FindDistinct] finds equal points, which share a row of weights.
//
// A piece is a part of the rows where a Writer is concerned, and a part of the work of a
// stage elsewhere. A group is all given rows of one distinct point.
package rows
