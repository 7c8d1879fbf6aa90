//go:build mutant_truncation

package mutant

// Name: noise cut off in place of rounded.
const Name = "truncation"
