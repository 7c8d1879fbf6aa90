//go:build mutant_time_seed

package mutant

// Name: a seed from the clock.
const Name = "time_seed"
