package accounts

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
// delta. That probability is lossTail, and under the analytic rule it is larger. lossAt
// is the number that the loss exceeds with probability delta. Both are for an observer
// of the whole release: unlike (epsilon, delta) they need not hold for a function of it.

// lossTail returns the probability with which the odds in favour of the true data set
// rise by more than the factor e^epsilon, with Gaussian noise of this mu. It is
// Phi(-epsilon/mu + mu/2) for neighbours at the largest distance, less for others. It is
// 1 when mu is not in [0, 1e6] or epsilon is not in [0, 1e9]: then nothing is promised.
func lossTail(mu, epsilon float64) float64 {
	switch {
	case !inRange(mu) || !(epsilon >= 0 && epsilon <= 1e9):
		return 1
	case mu == 0:
		return 0
	}
	return math.Erfc((epsilon/mu-mu/2)/math.Sqrt2) / 2
}

// lossAt returns the logarithm of a factor. With Gaussian noise of this mu, the odds in
// favour of the true data set rise by more than that factor with probability at most
// delta. It is mu^2/2 + mu Phi^-1(1-delta), rounded up, and infinite when mu is not in
// [0, 1e6] or delta not in [1e-100, 0.1].
func lossAt(mu, delta float64) float64 {
	if !inRange(mu) || !(delta >= 1e-100 && delta <= 0.1) {
		return math.Inf(1)
	}
	// Beyond 40 the tail is below 1e-300.
	low, z := 0., 40.
	for middle := z / 2; low < middle && middle < z; middle = low + (z-low)/2 {
		if math.Erfc(middle/math.Sqrt2)/2 <= delta {
			z = middle
		} else {
			low = middle
		}
	}
	return (mu*mu/2 + mu*z) * (1 + 0x1p-40)
}

func inRange(mu float64) bool { return mu >= 0 && mu <= 1e6 }
