//go:build mutant_log10

package mutant

// Name: the decimal logarithm for the natural one.
const Name = "log10"
