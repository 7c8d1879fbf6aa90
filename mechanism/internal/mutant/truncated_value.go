//go:build mutant_truncated_value

package mutant

// Name: the value cut off in place of rounded.
const Name = "truncated_value"
