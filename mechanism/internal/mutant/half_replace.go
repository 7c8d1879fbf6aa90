//go:build mutant_half_replace

package mutant

// Name: one record taken away where one is replaced.
const Name = "half_replace"
