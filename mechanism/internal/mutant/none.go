//go:build mutant_none

package mutant

// Name: no mistake, so that the other runs mean something.
const Name = "none"
