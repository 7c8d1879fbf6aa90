package mechanism

import (
	"fmt"
	"math"
)

// A Kind says in which calculus a ledger adds up. It is fixed when the ledger
// is created: choosing it after the fact would choose the better of several
// guarantees.
type Kind uint8

// The kinds of ledgers.
const (
	// GDP counts rho = mu^2/2 of Gaussian privacy. Gaussian noise composes
	// exactly in it, and the total is read with the privacy curve of the
	// Gaussian mechanism. A pure epsilon is charged at the least mu it has.
	GDP Kind = iota + 1
	// ZCDP counts rho of zero-concentrated privacy, in which a pure epsilon
	// costs only epsilon^2/2. The total is read with the conversion of Canonne,
	// Kamath and Steinke (2020), so a GDP ledger holds more Gaussian releases.
	ZCDP
	// Pure counts epsilon itself, and no Gaussian noise.
	Pure
)

var kindNames = [...]string{GDP: "gdp", ZCDP: "zcdp", Pure: "pure"}

func (k Kind) valid() bool { return k >= GDP && k <= Pure }

// String returns "gdp", "zcdp" or "pure".
func (k Kind) String() string {
	if !k.valid() {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// KindByName returns the kind a command names, or ErrParam.
func KindByName(name string) (Kind, error) {
	for k := GDP; k.valid(); k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("mechanism: %w: no kind %q; there are gdp, zcdp and pure", ErrParam, name)
}

// A Total is what a ledger holds for each unit: all its releases together are
// (Epsilon, Delta)-private. It is fixed before the first of them; the later ones
// and their prices may depend on the earlier results (Smith and Thakurta 2022
// for GDP, Feldman and Zrnic 2021 for ZCDP).
type Total struct {
	Kind    Kind
	Epsilon float64 // 1e-6 to 100
	Delta   float64 // 1e-100 to 0.1; 0 for Pure
}

const maxRho = 1e9

// amount returns how much the total is, rounded down.
func (t Total) amount() (Amount, error) {
	if !t.Kind.valid() {
		return Amount{}, &ParamError{Field: "Kind", Value: float64(t.Kind), Allowed: "GDP, ZCDP or Pure"}
	}
	if err := checkEpsilon(t.Epsilon); err != nil {
		return Amount{}, err
	}
	if err := t.Kind.checkDelta(t.Delta); err != nil {
		return Amount{}, err
	}
	switch t.Kind {
	case GDP:
		return amountOfGaussian(t.Epsilon, t.Delta), nil
	case ZCDP:
		a, _ := amountOf(rhoOfZCDP(t.Epsilon, t.Delta))
		return a, nil
	}
	// Exact: the last digit of 1e-6 is above 2^-96.
	a, _ := amountOf(t.Epsilon)
	return a, nil
}

// price returns what a spend costs in a ledger of this kind, rounded up.
func (k Kind) price(s Spend) (Amount, error) {
	var sum Amount
	gaussian := true
	switch {
	case s.Epsilon != 0 || s.Delta != 0:
		if err := checkEpsilon(s.Epsilon); err != nil {
			return Amount{}, err
		}
		if err := checkDelta(s.Delta); err != nil {
			return Amount{}, err
		}
		if s.Rho != 0 {
			return Amount{}, &ParamError{Field: "Rho", Value: s.Rho, Allowed: "0 beside Epsilon and Delta"}
		}
		sum = amountOfGaussian(s.Epsilon, s.Delta)
	case s.Rho != 0:
		if !(s.Rho > 0 && s.Rho <= maxRho) {
			return Amount{}, &ParamError{Field: "Rho", Value: s.Rho, Allowed: "above 0, at most 1e9"}
		}
		sum, _ = amountOf(s.Rho)
	default:
		gaussian = false
	}
	if gaussian && k == Pure {
		return Amount{}, ledgerError("a pure ledger cannot count Gaussian noise")
	}
	if s.PureEpsilon == 0 && gaussian {
		return sum, nil
	}
	if !(s.PureEpsilon > 0 && s.PureEpsilon <= maxEpsilon) {
		return Amount{}, &ParamError{Field: "PureEpsilon", Value: s.PureEpsilon, Allowed: "above 0, at most 100"}
	}
	var pure Amount
	switch k {
	case GDP:
		pure, _ = amountOf(rhoOfPure(s.PureEpsilon))
	case ZCDP:
		pure, _ = amountOfHalfSquare(s.PureEpsilon)
	case Pure:
		pure, _ = amountOf(s.PureEpsilon)
	}
	sum, _ = sum.add(pure) // both are far below the largest Amount
	return sum, nil
}

// epsilonAt returns the epsilon that an amount is worth at delta, rounded up.
func (k Kind) epsilonAt(a Amount, delta float64) float64 {
	rho := a.Float()
	switch {
	case rho == 0:
		return 0
	case k == Pure:
		return rho
	case k == ZCDP:
		return epsilonOfZCDP(rho, delta)
	}
	return epsilonAt(math.Sqrt(2*rho), delta)
}

// epsilonWithin is epsilonAt for an amount that fits the total. That all of it
// is (Epsilon, Delta)-private is known without the rounding.
func (t Total) epsilonWithin(a Amount, delta float64) float64 {
	epsilon := t.Kind.epsilonAt(a, delta)
	if delta >= t.Delta {
		epsilon = min(epsilon, t.Epsilon)
	}
	return epsilon
}

// checkDelta is that of the releases, and 0 for a pure ledger.
func (k Kind) checkDelta(delta float64) error {
	if k != Pure {
		return checkDelta(delta)
	}
	if delta != 0 {
		return &ParamError{Field: "Delta", Value: delta, Allowed: "0 for a pure ledger"}
	}
	return nil
}
