//go:build mutant_delta_over_m

package mutant

// Name: delta shared out among the coordinates.
const Name = "delta_over_m"
