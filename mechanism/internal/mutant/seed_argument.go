//go:build mutant_seed_argument

package mutant

// Name: a seed that callers may choose.
const Name = "seed_argument"
