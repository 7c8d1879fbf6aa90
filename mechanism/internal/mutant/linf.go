//go:build mutant_linf

package mutant

// Name: the sensitivity of one coordinate for that of the matrix.
const Name = "linf"
