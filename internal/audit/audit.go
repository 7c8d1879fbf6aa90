// Package audit estimates epsilon from counts of drawn releases. Only tests import it.
package audit

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Epsilon returns a lower confidence bound on the epsilon of a mechanism that is
// (epsilon, delta)-private. An event was seen hits times in n releases of one
// data set and alarms times in n releases of a neighbour; the bound is
// log((hits/n - delta) / (alarms/n)) with each chance at the end of its interval.
// It is above the true epsilon with probability at most 2 risk.
func Epsilon(hits, alarms, n int, delta, risk float64) float64 {
	low, _ := Interval(hits, n, risk)
	_, high := Interval(alarms, n, risk)
	return math.Log(max(0, low-delta) / high)
}

// Interval returns the Clopper-Pearson bounds of the chance of an event that was seen
// hits times in n. Each is wrong with probability risk.
func Interval(hits, n int, risk float64) (low, high float64) {
	high = 1
	if hits > 0 {
		low = bisect(func(p float64) bool { return upperTail(hits, n, p) <= risk })
	}
	if hits < n {
		high = 1 - bisect(func(q float64) bool { return upperTail(n-hits, n, q) <= risk })
	}
	return low, high
}

// OneRun returns the largest epsilon that is contradicted, with the given risk, by
// right correct ones among guesses of m canaries in one release (Steinke, Nasr and
// Jagielski 2023, appendix D).
func OneRun(m, guesses, right int, delta, risk float64) float64 {
	const most = 20
	contradicted := func(share float64) bool {
		q := 1 / (1 + math.Exp(-share*most))
		b := distuv.Binomial{N: float64(guesses), P: q}
		sum, alpha := 0.0, 0.0
		for i := 1; i <= right; i++ {
			sum += b.Prob(float64(right - i))
			alpha = max(alpha, sum/float64(i))
		}
		return upperTail(right, guesses, q)+2*alpha*delta*float64(m) <= risk
	}
	return most * bisect(contradicted)
}

// upperTail returns the chance of at least hits successes in n.
func upperTail(hits, n int, p float64) float64 {
	return distuv.Beta{Alpha: float64(hits), Beta: float64(n - hits + 1)}.CDF(p)
}

// bisect returns the largest p in [0, 1] with holds(p), which is true below and
// false above. It replaces the quantile of distuv.Beta, which is far off for few hits
// in many.
func bisect(holds func(float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
