package iterate

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// Normalization says how the iterate is rescaled after each step.
type Normalization int

// The normalisations.
const (
	// None leaves the iterate unchanged, as the paper's text does.
	None Normalization = iota
	// Frobenius scales the iterate to |X|_F = sqrt(n).
	Frobenius
	// Centred subtracts the column means, then scales to |X|_F = sqrt(n).
	Centred
)

func (n Normalization) String() string {
	switch n {
	case None:
		return "none"
	case Frobenius:
		return "frobenius"
	case Centred:
		return "centred"
	}
	return fmt.Sprintf("Normalization(%d)", int(n))
}

// NormalizationByName returns the normalisation with the given name.
func NormalizationByName(name string) (Normalization, error) {
	for n := None; n <= Centred; n++ {
		if n.String() == name {
			return n, nil
		}
	}
	return 0, fmt.Errorf("iterate: %w: no normalisation %q, want none, frobenius or centred", kernel.ErrOption, name)
}
