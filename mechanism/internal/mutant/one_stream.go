//go:build mutant_one_stream

package mutant

// Name: the same stream for two chunks.
const Name = "one_stream"
