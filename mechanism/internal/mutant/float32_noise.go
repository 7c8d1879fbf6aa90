//go:build mutant_float32_noise

package mutant

// Name: noise in single precision.
const Name = "float32_noise"
