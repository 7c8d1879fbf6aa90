//go:build mutant_row_noise

package mutant

// Name: one noise for a whole row.
const Name = "row_noise"
