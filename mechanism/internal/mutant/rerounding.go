//go:build mutant_rerounding

package mutant

// Name: the output rounded again.
const Name = "rerounding"
