//go:build mutant_before_grid

package mutant

// Name: noise that is not on the grid added to the clamped value.
const Name = "before_grid"
