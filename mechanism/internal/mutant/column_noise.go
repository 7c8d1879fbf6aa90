//go:build mutant_column_noise

package mutant

// Name: one noise for a whole column.
const Name = "column_noise"
