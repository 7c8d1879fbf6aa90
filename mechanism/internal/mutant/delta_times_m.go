//go:build mutant_delta_times_m

package mutant

// Name: delta counted once for each coordinate.
const Name = "delta_times_m"
