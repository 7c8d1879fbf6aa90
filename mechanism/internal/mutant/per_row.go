//go:build mutant_per_row

package mutant

// Name: the sensitivity of one row for that of the matrix.
const Name = "per_row"
