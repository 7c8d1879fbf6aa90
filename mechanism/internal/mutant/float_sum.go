//go:build mutant_float_sum

package mutant

// Name: value and noise added in floating point, then rounded.
const Name = "float_sum"
