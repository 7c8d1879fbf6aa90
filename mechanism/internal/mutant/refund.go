//go:build mutant_refund

package mutant

// Name: a budget given back on an error.
const Name = "refund"
