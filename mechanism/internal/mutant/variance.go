//go:build mutant_variance

package mutant

// Name: the variance passed as standard deviation.
const Name = "variance"
