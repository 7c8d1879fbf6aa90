package mechanism

import "math"

// The Gaussian mechanism by its privacy curve. Noise of standard deviation s
// times the sensitivity is (epsilon, delta)-private exactly when D <= delta,
//
//	D = Phic(a) - e^epsilon Phic(b),   a = epsilon s - 1/(2s),   b = epsilon s + 1/(2s),
//
// Phic the upper tail of the standard normal (Balle and Wang 2018, Theorem 8).
// Since b^2 - a^2 = 2 epsilon, e^epsilon phi(b) = phi(a), so with the Mills
// ratio R = Phic/phi
//
//	D = phi(a) (R(a) - R(b)):
//
// no e^epsilon appears and nothing overflows.

// logCurve returns ln D for a noise multiplier s > 0 and epsilon >= 0.
func logCurve(s, epsilon float64) float64 {
	centre, half := epsilon*s, 0.5/s
	a, b := centre-half, centre+half
	switch {
	case a < 0:
		return math.Log(math.Erfc(a/math.Sqrt2)/2 - math.Exp(-a*a/2)*invSqrt2Pi*mills(b))
	case half >= 0.125:
		return -a*a/2 + logInvSqrt2Pi + math.Log(mills(a)-mills(b))
	}
	// R(a) and R(b) agree in most digits. Their difference is the integral of
	// -R' = 1 - x R(x) from a to b, here by five points of Gauss and Legendre.
	// b - a is the known 1/s, not a subtraction.
	sum := 0.0
	for i, x := range legendreNodes {
		x = centre + half*x
		sum += legendreWeights[i] * (1 - x*mills(x))
	}
	return -a*a/2 + logInvSqrt2Pi + math.Log(half*sum)
}

const (
	invSqrt2Pi    = 0.39894228040143267793994605993438
	logInvSqrt2Pi = -0.91893853320467274178032973640562
)

var (
	legendreNodes   = [5]float64{-0.90617984593866399280, -0.53846931010568309104, 0, 0.53846931010568309104, 0.90617984593866399280}
	legendreWeights = [5]float64{0.23692688505618908751, 0.47862867049936646804, 0.56888888888888888889, 0.47862867049936646804, 0.23692688505618908751}
)

// mills returns R(x) = Phic(x)/phi(x) for x >= 0.
func mills(x float64) float64 {
	const sqrtHalfPi = 1.2533141373155002512078826424055
	return sqrtHalfPi * erfcx(x/math.Sqrt2)
}

// erfcx returns exp(x^2) erfc(x) for x >= 0.
func erfcx(x float64) float64 {
	if x < 25 {
		high := x * x
		low := math.FMA(x, x, -high)
		return math.Exp(high) * (1 + low) * math.Erfc(x)
	}
	// Six terms of the asymptotic series; the next is below 1e-15.
	const sqrtPi = 1.7724538509055160272981674833411
	t := 1 / (2 * x * x)
	return (1 - t*(1-3*t*(1-5*t*(1-7*t*(1-9*t))))) / (x * sqrtPi)
}

// multiplier returns the least noise multiplier that is (epsilon,
// delta)-private, to the last digits of float64, not yet rounded to the safe
// side.
func multiplier(epsilon, delta float64) float64 {
	target := math.Log(delta)
	// rho + 2 sqrt(rho L) <= epsilon suffices, L = ln(1/delta), rho = 1/(2 s^2).
	high := (math.Sqrt(epsilon-target) + math.Sqrt(-target)) / (math.Sqrt2 * epsilon)
	low := high / 2
	for logCurve(low, epsilon) <= target {
		high, low = low, low/2
	}
	_, high = crossing(low, high, func(s float64) bool { return logCurve(s, epsilon) <= target })
	return high
}

// epsilonAt returns the least epsilon at which a mu-Gaussian-private release is
// (epsilon, delta)-private, rounded up; 0 when delta alone covers it.
func epsilonAt(mu, delta float64) float64 {
	if mu == 0 {
		return 0
	}
	target, s := math.Log(delta), 1/mu
	if logCurve(s, 0) <= target {
		return 0
	}
	rho := mu * mu / 2
	_, high := crossing(0, (rho+2*math.Sqrt(-rho*target))*(1+1e-12), func(epsilon float64) bool { return logCurve(s, epsilon) <= target })
	return high * (1 + 0x1p-40)
}
