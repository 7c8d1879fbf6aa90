//go:build mutant_log_product

package mutant

// Name: ln(1.25 delta) for ln(1.25/delta).
const Name = "log_product"
