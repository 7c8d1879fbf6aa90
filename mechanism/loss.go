package mechanism

import "math"

// How a release changes the odds between two neighbours. An observer who compares two
// neighbouring data sets multiplies their odds by the ratio of the probabilities of the
// release under them. The logarithm of that ratio, in favour of the true data set, is the
// privacy loss. Under Gaussian noise, for neighbours at the largest distance that the
// bound allows, it is normal with mean mu^2/2 and standard deviation mu, mu the
// sensitivity over the standard deviation of the noise; for closer neighbours it is
// smaller.
//
// (epsilon, delta)-privacy is P[S] <= e^epsilon P'[S] + delta for every set S of
// outcomes. It does not say that the loss is above epsilon with probability at most
// delta. That probability is LossTail, and under the analytic rule it is larger. LossAt
// is the number that the loss exceeds with probability delta. Both are for an observer
// of the whole release: unlike (epsilon, delta) they need not hold for a function of it.

// LossTail returns the probability with which the odds in favour of the true data set
// rise by more than the factor e^epsilon, with Gaussian noise of this mu. It is
// Phi(-epsilon/mu + mu/2) for neighbours at the largest distance, less for others.
// The error is a *ParamError when mu is not in [0, 1e6] or epsilon is not in [0, 1e9].
func LossTail(mu, epsilon float64) (float64, error) {
	if err := checkMu(mu); err != nil {
		return 0, err
	}
	if !(epsilon >= 0 && epsilon <= 1e9) {
		return 0, &ParamError{Field: "Epsilon", Value: epsilon, Allowed: "0 to 1e9"}
	}
	if mu == 0 {
		return 0, nil
	}
	return math.Erfc((epsilon/mu-mu/2)/math.Sqrt2) / 2, nil
}

// LossAt returns the logarithm of a factor. With Gaussian noise of this mu, the odds in
// favour of the true data set rise by more than that factor with probability at most
// delta. It is mu^2/2 + mu Phi^-1(1-delta), rounded up. The error is a *ParamError when
// mu is not in [0, 1e6] or delta not in [1e-100, 0.1].
func LossAt(mu, delta float64) (float64, error) {
	if err := checkMu(mu); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	// Beyond 40 the tail is below 1e-300.
	_, z := crossing(0, 40, func(z float64) bool { return math.Erfc(z/math.Sqrt2)/2 <= delta })
	return (mu*mu/2 + mu*z) * (1 + 0x1p-40), nil
}

func checkMu(mu float64) error {
	if !(mu >= 0 && mu <= maxMu) {
		return &ParamError{Field: "Mu", Value: mu, Allowed: "0 to 1e6"}
	}
	return nil
}
