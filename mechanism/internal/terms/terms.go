// Package terms has what releases are checked against when they are made and when they are read.
package terms

const (
	// RoundedGaussian is the name of the mechanism: ideal Gaussian noise, rounded
	// exactly to the grid.
	RoundedGaussian = "rounded-gaussian/1"
	// NormFrobenius is the norm of the sensitivity: over all entries, for the one Q
	// of the release.
	NormFrobenius = "frobenius, given Q"
)

// The rules that choose the standard deviation of the noise.
const (
	RuleAnalytic  = "analytic"
	RuleClassical = "classical"
)
