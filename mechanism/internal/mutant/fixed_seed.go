//go:build mutant_fixed_seed

package mutant

// Name: a seed that is written in the program.
const Name = "fixed_seed"
