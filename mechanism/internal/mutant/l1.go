//go:build mutant_l1

package mutant

// Name: the L1 sensitivity for the L2 one.
const Name = "l1"
