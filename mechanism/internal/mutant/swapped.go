//go:build mutant_swapped

package mutant

// Name: epsilon and delta in each other's place.
const Name = "swapped"
