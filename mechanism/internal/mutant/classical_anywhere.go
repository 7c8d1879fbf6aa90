//go:build mutant_classical_anywhere

package mutant

// Name: the classical rule where it is not proved.
const Name = "classical_anywhere"
