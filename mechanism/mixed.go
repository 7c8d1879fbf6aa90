package mechanism

import "math"

// A unit of a Mixed ledger has two pots: E of pure epsilon and mu of Gaussian privacy.
// All answers paid from the first are together E-private, even if they were chosen by
// looking at earlier answers (Rogers, Roth, Ullman and Vadhan 2016). All answers paid
// from the second are together mu-Gaussian-private (Smith and Thakurta 2022). The two
// may take turns in any order (Vadhan and Zhang 2023). Together they are at least as
// private as one randomised response of E and one Gaussian of mu. An outcome of the
// response multiplies the odds by e^E, with probability e^E/(1 + e^E), or by e^-E.
// Given the outcome, the Gaussian has the rest of epsilon, so
//
//	delta(epsilon) = e^E/(1+e^E) d(epsilon - E) + 1/(1+e^E) d(epsilon + E),
//	d(t) = Phi(-t/mu + mu/2) - e^t Phi(-t/mu - mu/2),   t any real number
//
// (Dong, Roth and Su 2022 on pairs). It is at most d(epsilon - E), the result
// of basic composition.

// logDeltaOfMixed returns ln delta(epsilon), for epsilon, pure and mu >= 0.
func logDeltaOfMixed(pure, mu, epsilon float64) float64 {
	up := -math.Log1p(math.Exp(-pure)) // ln e^E/(1+e^E)
	return logSum(up+logHockeyStick(mu, epsilon-pure), up-pure+logHockeyStick(mu, epsilon+pure))
}

// logHockeyStick returns ln d(t). With P and Q the two normal laws, d(t) is the
// integral of (P - e^t Q)^+. For t < 0 that is 1 - e^t plus the integral of
// (e^t Q - P)^+, which is e^t d(-t).
func logHockeyStick(mu, t float64) float64 {
	if t < 0 {
		return math.Log(-math.Expm1(t) + math.Exp(t+logHockeyStick(mu, -t)))
	}
	if mu == 0 {
		return math.Inf(-1)
	}
	// Where the curve has lost its digits it is below e^-1800, and Phic(a) <=
	// e^(-a^2/2) is enough.
	if a := t/mu - mu/2; a > 60 {
		return -a * a / 2
	}
	return logCurve(1/mu, t)
}

// logSum returns ln(e^a + e^b).
func logSum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// rhoBesidePure returns the largest mu^2/2 that together with a pure epsilon is
// (epsilon, delta)-private, rounded down. pure is at least minEpsilon below epsilon.
func rhoBesidePure(epsilon, delta, pure float64) float64 {
	target := math.Log(delta)
	low := 1 / multiplier(epsilon-pure, delta) // by basic composition
	high := 2 * low
	for logDeltaOfMixed(pure, high, epsilon) <= target {
		low, high = high, 2*high
	}
	low, _ = crossing(low, high, func(mu float64) bool { return !(logDeltaOfMixed(pure, mu, epsilon) <= target) })
	// The factor covers the rounding errors of the curve.
	return low * low / 2 * (1 - 0x1p-39)
}

// epsilonOfMixed returns the least epsilon at which a pure epsilon and a mu together
// are (epsilon, delta)-private, rounded up.
func epsilonOfMixed(pure, mu, delta float64) float64 {
	if pure == 0 {
		return epsilonAt(mu, delta)
	}
	// At most the result of basic composition.
	basic := up(pure + epsilonAt(mu, delta))
	target := math.Log(delta)
	if logDeltaOfMixed(pure, mu, 0) <= target {
		return 0
	}
	_, epsilon := crossing(0, basic, func(epsilon float64) bool { return logDeltaOfMixed(pure, mu, epsilon) <= target })
	return min(basic, epsilon*(1+0x1p-39))
}
