package mechanism

import "math"

// Conversions between the calculi of privacy.

// rhoOfPure returns mu^2/2 for the least mu at which a pure epsilon is
// mu-Gaussian-private, rounded up. The trade-off curve of a pure epsilon has
// one inner vertex, at p = 1/(1 + e^epsilon) on the diagonal, and the Gaussian
// curve must pass below it: mu = -2 Phi^-1(p). With mu = 2 sqrt(2) z that is
// erfc(z) = 2p, or erf(z) = tanh(epsilon/2), and mu^2/2 = 4 z^2.
func rhoOfPure(epsilon float64) float64 {
	enough := func(z float64) bool { return math.Erf(z) >= math.Tanh(epsilon/2) }
	if epsilon >= 1 {
		enough = func(z float64) bool { return math.Erfc(z) <= 2/(1+math.Exp(epsilon)) }
	}
	_, z := crossing(0, epsilon, enough)
	// The functions are accurate to about 2^-52, which the factor covers amply.
	return 4 * z * z * (1 + 0x1p-40)
}

// logDeltaOfZCDP returns ln delta of rho-zCDP at epsilon (Canonne, Kamath and
// Steinke 2020):
//
//	delta = min over alpha > 1 of
//	        exp((alpha-1)(alpha rho - epsilon) + alpha ln(1 - 1/alpha)) / (alpha - 1).
//
// The exponent is convex in alpha, with derivative
// (2 alpha - 1) rho - epsilon + ln(1 - 1/alpha). Any alpha gives a bound, so
// the place of the minimum need not be exact.
func logDeltaOfZCDP(rho, epsilon float64) float64 {
	// x = alpha - 1. At the upper end the derivative is above 1 - ln 2; below
	// the lower one 1/x would soon overflow.
	_, x := crossing(0x1p-1000, (epsilon+1)/(2*rho)+1, func(x float64) bool {
		return (2*x+1)*rho-epsilon-math.Log1p(1/x) >= 0
	})
	return x*((1+x)*rho-epsilon-math.Log1p(1/x)) - math.Log1p(x)
}

// rhoOfZCDP returns the largest rho that is (epsilon, delta)-private, rounded
// down.
func rhoOfZCDP(epsilon, delta float64) float64 {
	target := math.Log(delta)
	// rho + 2 sqrt(rho L) <= epsilon suffices, L = ln(1/delta).
	root := epsilon / (math.Sqrt(epsilon-target) + math.Sqrt(-target))
	low := root * root
	high := 2 * low
	for logDeltaOfZCDP(high, epsilon) <= target {
		low, high = high, 2*high
	}
	low, _ = crossing(low, high, func(rho float64) bool { return logDeltaOfZCDP(rho, epsilon) > target })
	return low * (1 - 0x1p-40)
}

// epsilonOfZCDP returns the least epsilon at which rho-zCDP is (epsilon,
// delta)-private, rounded up.
func epsilonOfZCDP(rho, delta float64) float64 {
	target := math.Log(delta)
	if logDeltaOfZCDP(rho, 0) <= target {
		return 0
	}
	_, high := crossing(0, epsilonBound(rho, -target), func(epsilon float64) bool {
		return logDeltaOfZCDP(rho, epsilon) <= target
	})
	return high * (1 + 0x1p-40)
}

// epsilonBound returns rho + 2 sqrt(rho L), the epsilon of rho-zCDP at delta =
// e^-L by Markov's inequality, rounded up.
func epsilonBound(rho, l float64) float64 { return (rho + 2*math.Sqrt(rho*l)) * (1 + 0x1p-50) }

// crossing returns neighbouring floats low < high between which an increasing
// condition becomes true. It is taken to be false at low and true at high,
// where it is not evaluated.
func crossing(low, high float64, condition func(float64) bool) (float64, float64) {
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return low, high
		}
		if condition(middle) {
			high = middle
		} else {
			low = middle
		}
	}
}
