package mechanism

import (
	"fmt"
	"math"
)

// A Kind is the calculus in which a ledger adds up. It is fixed when the ledger
// is created: a later choice would pick the better of several guarantees.
type Kind uint8

// The kinds of ledgers.
const (
	// GDP counts rho = mu^2/2 of Gaussian privacy. Gaussian noise composes
	// exactly in it, and the total is read with the privacy curve of the
	// Gaussian mechanism. A pure epsilon is charged at the least mu that covers
	// it.
	GDP Kind = iota + 1
	// ZCDP counts rho of zero-concentrated privacy, in which a pure epsilon
	// costs only epsilon^2/2. The total is read with the conversion of Canonne,
	// Kamath and Steinke (2020), so a GDP ledger holds more Gaussian releases.
	ZCDP
	// Pure counts epsilon itself, and no Gaussian noise.
	Pure
	// Mixed counts Gaussian noise as GDP does and a pure epsilon as Pure does, in
	// two pots whose sizes are fixed with the total.
	Mixed
)

var kindNames = [...]string{GDP: "gdp", ZCDP: "zcdp", Pure: "pure", Mixed: "mixed"}

func (k Kind) valid() bool { return k >= GDP && k <= Mixed }

// String returns "gdp", "zcdp", "pure" or "mixed".
func (k Kind) String() string {
	if !k.valid() {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// KindByName returns the kind with the given name, or ErrParam.
func KindByName(name string) (Kind, error) {
	for k := GDP; k.valid(); k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("mechanism: %w: no kind %q, want mixed, gdp, zcdp or pure", ErrParam, name)
}

// A Total is the budget of each unit in a ledger: all releases of the unit together are
// (Epsilon, Delta)-private for the pairs of data sets that every one of them protects, see
// Balance.Protects. For other pairs it states nothing. The total is chosen before the first
// release; the later ones and their prices may depend on the earlier results (Smith and
// Thakurta 2022 for GDP, Feldman and Zrnic 2021 for ZCDP, Rogers, Roth, Ullman and Vadhan
// 2016 for Pure, and Vadhan and Zhang 2023 for the two pots of Mixed).
type Total struct {
	Kind    Kind
	Epsilon float64 // 1e-6 to 100
	Delta   float64 // 1e-100 to 0.1; 0 for Pure
	// PureEpsilon is the size of the pure pot of a Mixed total, at least 1e-6 and at
	// least 1e-6 below Epsilon; 0 for other kinds. The Gaussian pot follows from it:
	// the largest that keeps both together (Epsilon, Delta)-private.
	PureEpsilon float64
}

// String returns the total in words, such as "epsilon 2 at delta 1e-06 (mixed)".
func (t Total) String() string {
	if t.Kind == Pure {
		return fmt.Sprintf("epsilon %g (pure)", t.Epsilon)
	}
	return fmt.Sprintf("epsilon %g at delta %g (%s)", t.Epsilon, t.Delta, t.Kind)
}

// describe returns pots of the total in words. A pure pot is an epsilon. Gaussian
// privacy adds up by rho, which means little to a reader, so the text also has the
// epsilon of this amount alone, at the delta of the total.
func (t Total) describe(p Pots) string {
	pure := fmt.Sprintf("pure epsilon %.6g", p.Pure.Float())
	if t.Kind == Pure {
		return pure
	}
	alone := t.Kind.epsilonAt(Pots{Rho: p.Rho}, t.Delta)
	if t.Kind == Mixed {
		return fmt.Sprintf("%s and rho %.6g (alone epsilon %.6g, with the pure one %.6g by basic composition)", pure, p.Rho.Float(), alone, p.Pure.Float()+alone)
	}
	return fmt.Sprintf("rho %.6g (alone epsilon %.6g)", p.Rho.Float(), alone)
}

const maxRho = 1e9

// pots returns the total as pots, rounded down.
func (t Total) pots() (whole Pots, err error) {
	if err := t.check(); err != nil {
		return Pots{}, err
	}
	switch t.Kind {
	case GDP:
		whole.Rho = amountOfGaussian(t.Epsilon, t.Delta)
	case ZCDP:
		whole.Rho, _ = amountOf(rhoOfZCDP(t.Epsilon, t.Delta))
	case Pure:
		whole.Pure, _ = amountOf(t.Epsilon) // exact: the last digit of 1e-6 is above 2^-96
	case Mixed:
		whole.Rho, _ = amountOf(rhoBesidePure(t.Epsilon, t.Delta, t.PureEpsilon))
		whole.Pure, _ = amountOf(t.PureEpsilon)
	}
	return whole, nil
}

func (t Total) check() error {
	if !t.Kind.valid() {
		return &ParamError{Field: "Kind", Value: float64(t.Kind), Allowed: "GDP, ZCDP, Pure or Mixed"}
	}
	if err := checkEpsilon(t.Epsilon); err != nil {
		return err
	}
	if err := t.Kind.checkDelta(t.Delta); err != nil {
		return err
	}
	switch {
	case t.Kind != Mixed && t.PureEpsilon != 0:
		return &ParamError{Field: "PureEpsilon", Value: t.PureEpsilon, Allowed: "0 except in a mixed ledger"}
	case t.Kind == Mixed && !(t.PureEpsilon >= minEpsilon && t.Epsilon-t.PureEpsilon >= minEpsilon):
		return &ParamError{Field: "PureEpsilon", Value: t.PureEpsilon, Allowed: "at least 1e-6, and at least 1e-6 below Epsilon"}
	}
	return nil
}

// epsilonAt returns the epsilon of pots at delta, rounded up.
func (k Kind) epsilonAt(p Pots, delta float64) float64 {
	rho, pure := p.Rho.Float(), p.Pure.Float()
	switch {
	case rho == 0:
		return pure // exact at delta 0, and a bound at a larger delta
	case k == ZCDP:
		return epsilonOfZCDP(rho, delta)
	}
	return epsilonOfMixed(pure, math.Sqrt(2*rho), delta)
}

// epsilonWithin is epsilonAt for pots that fit the total. The whole total is
// known to be (Epsilon, Delta)-private without the rounding.
func (t Total) epsilonWithin(p Pots, delta float64) float64 {
	epsilon := t.Kind.epsilonAt(p, delta)
	if delta >= t.Delta {
		epsilon = min(epsilon, t.Epsilon)
	}
	return epsilon
}

// epsilonOf is epsilonWithin at the delta of the total.
func (t Total) epsilonOf(p Pots) float64 { return t.epsilonWithin(p, t.Delta) }

// checkDelta checks delta as for a release; for a pure ledger it must be 0.
func (k Kind) checkDelta(delta float64) error {
	if k != Pure {
		return checkDelta(delta)
	}
	if delta != 0 {
		return &ParamError{Field: "Delta", Value: delta, Allowed: "0 for a pure ledger"}
	}
	return nil
}
