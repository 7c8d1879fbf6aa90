//go:build mutant_no_grid_error

package mutant

// Name: the rounding to the grid left out.
const Name = "no_grid_error"
