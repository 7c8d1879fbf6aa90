//go:build mutant_no_operator_error

package mutant

// Name: the error of the computed matrix left out.
const Name = "no_operator_error"
