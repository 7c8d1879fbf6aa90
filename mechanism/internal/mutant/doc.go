//go:build mutant

// Package mutant names the mistake that a build with the tags mutant and
// mutant_NAME makes on purpose. Each file is one. No other build contains it.
package mutant
