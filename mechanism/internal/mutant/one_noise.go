//go:build mutant_one_noise

package mutant

// Name: the same noise for two releases.
const Name = "one_noise"
