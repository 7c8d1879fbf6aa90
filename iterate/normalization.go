package iterate

import "fmt"

// Normalization says what is done to the iterate after each step.
type Normalization int

// The normalisations.
const (
	// None leaves the iterate as it is, as the paper's text does.
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

// NormalizationByName returns the normalisation a command names.
func NormalizationByName(name string) (Normalization, error) {
	for n := None; n <= Centred; n++ {
		if n.String() == name {
			return n, nil
		}
	}
	return 0, fmt.Errorf("iterate: %w: no normalisation %q; there are none, frobenius and centred", ErrSettings, name)
}
