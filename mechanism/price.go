package mechanism

// Price returns what a spend costs in a ledger of this kind, rounded up. Errors are
// ErrParam, and ErrLedger for Gaussian noise in a Pure ledger.
func (k Kind) Price(s Spend) (cost Pots, err error) {
	gaussian := true
	switch {
	case s.Epsilon != 0 || s.Delta != 0:
		if err := checkEpsilon(s.Epsilon); err != nil {
			return Pots{}, err
		}
		if err := checkDelta(s.Delta); err != nil {
			return Pots{}, err
		}
		if s.Rho != 0 {
			return Pots{}, &ParamError{Field: "Rho", Value: s.Rho, Allowed: "0 where Epsilon and Delta are set"}
		}
		cost.Rho = amountOfGaussian(s.Epsilon, s.Delta)
	case s.Rho != 0:
		if !(s.Rho > 0 && s.Rho <= maxRho) {
			return Pots{}, &ParamError{Field: "Rho", Value: s.Rho, Allowed: "above 0, at most 1e9"}
		}
		cost.Rho, _ = amountOf(s.Rho)
	default:
		gaussian = false
	}
	if gaussian && k == Pure {
		return Pots{}, ledgerError("a pure ledger cannot count Gaussian noise")
	}
	if s.PureEpsilon == 0 && gaussian {
		return cost, nil
	}
	if !validPure(s.PureEpsilon) {
		return Pots{}, &ParamError{Field: "PureEpsilon", Value: s.PureEpsilon, Allowed: "above 0, at most 100"}
	}
	cost, _ = cost.add(k.pure(s.PureEpsilon)) // both are far below the largest Amount
	return cost, nil
}

func validPure(epsilon float64) bool { return epsilon > 0 && epsilon <= maxEpsilon }

// pure returns the cost of a pure epsilon: itself, or the least rho that covers it in
// the calculus of the ledger.
func (k Kind) pure(epsilon float64) (cost Pots) {
	switch k {
	case GDP:
		cost.Rho, _ = amountOf(rhoOfPure(epsilon))
	case ZCDP:
		cost.Rho, _ = amountOfHalfSquare(epsilon)
	default:
		cost.Pure, _ = amountOf(epsilon)
	}
	return cost
}
