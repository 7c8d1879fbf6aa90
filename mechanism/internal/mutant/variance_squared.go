//go:build mutant_variance_squared

package mutant

// Name: the standard deviation squared twice.
const Name = "variance_squared"
