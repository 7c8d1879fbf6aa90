// Package rows is what the neighbour searches of package kernel share: what goes into
// a search and what comes out of it.
//
// [Points] are the rows of features a search reads, checked and boxed by package kernel.
// A [Request] asks for the pairs within a radius and their weights. A [Result] is the
// matrix of weights with the order of its rows, their sums, and a bound of the weight
// that was left out of each. Packages cells and codes answer requests; package kernel
// makes operators of results.
//
// A [Writer] stores rows of weights as they are found, in pieces that do not depend on
// the number of workers. [Request.Mirror] makes a symmetric matrix of its upper half.
// [FindDistinct] finds equal points, which share a row of weights.
package rows
