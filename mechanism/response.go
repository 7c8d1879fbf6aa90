package mechanism

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/seed-64e14a55/privatemail/internal/noise"
)

// randomisedResponse writes to dst the labels after k-ary randomised response:
// each is kept with probability t/2^64, t from keepThreshold, and otherwise
// becomes one of the other classes, all equally likely. Each single label is
// then epsilon-private. Both probabilities are exact: nothing is rounded when a
// label is drawn.
//
// The caller has checked that labels are in 0 .. classes-1, that dst is as long,
// and that epsilon is in [1e-6, 100]. dst may be labels. Two words are drawn for
// each row (a third with probability below classes/2^64), for every label, and
// no branch depends on the label; a single class takes none.
func randomisedResponse(dst, labels []int32, classes int, epsilon float64, words noise.Source) {
	if classes == 1 {
		clear(dst)
		return
	}
	keep, c := keepThreshold(classes, epsilon), int64(classes)
	for i, label := range labels {
		_, kept := bits.Sub64(words.Uint64(), keep, 0) // 1 when the word is below keep
		other := int64(label) + 1 + int64(noise.Below(uint64(c-1), words))
		other -= c
		other += c & (other >> 63) // modulo c
		dst[i] = int32(other ^ (other^int64(label))&-int64(kept))
	}
}

// keepThreshold returns the largest t with
//
//	t/(2^64-t) (classes-1) <= e^epsilon,
//
// up to the last digits of an e^epsilon that is itself rounded down, so never
// too large. 2 <= classes <= 2^31 and 1e-6 <= epsilon <= 100.
//
// Proof that labels drawn with it are epsilon-private. One output comes from
// two different labels with probabilities p = t/2^64, when it is the label, and
// q = (1-p)/(classes-1), when it is another, so the ratio of the probabilities
// of an output is 1, p/q or q/p. p/q = t/(2^64-t) (classes-1), which grows with
// t and is e^epsilon at p* = e^epsilon/(e^epsilon + classes - 1). The series
// below has positive terms only and each of its operations rounds down, so e is
// at most 2^256 e^epsilon. x/(x + classes - 1) grows with x, and the division
// rounds down too: p <= p*, hence p/q <= e^epsilon. No property of math.Exp is
// used.
//
// For the other direction, e^-epsilon <= p/q, it is enough that p >= 1/classes,
// which makes q/p <= 1. p* - 1/classes grows with epsilon, and at 1e-6 it is
//
//	(e^epsilon - 1)(classes-1)/(classes (e^epsilon + classes - 1))
//	    > epsilon (1/2) /(classes + epsilon e^epsilon) > 1e-6/2^33 > 2^-53,
//
// while p is below p* by at most 2^-64 and the error of the series, less than
// 2^-200.
//
// For large epsilon t stays below 2^64, since classes - 1 >= 1 makes the
// quotient less than 1: then p/q is at most (2^64-1)(classes-1), still below
// e^epsilon.
func keepThreshold(classes int, epsilon float64) uint64 {
	e := expDown(epsilon)
	others := new(big.Int).Lsh(big.NewInt(int64(classes-1)), expDigits)
	t := new(big.Int).Lsh(e, 64)
	return t.Quo(t, others.Add(others, e)).Uint64()
}

// expDigits is the number of binary digits of expDown after the point.
const expDigits = 256

// expDown returns 2^256 e^epsilon, rounded down, for epsilon in [1e-6, 100]. It
// is never above it, because each term of the series is positive and each
// operation rounds down; it is at least 2^256, the first term; and its relative
// error is below 2^-200. No property of math.Exp is used.
func expDown(epsilon float64) *big.Int {
	fraction, exponent := math.Frexp(epsilon) // epsilon ends before 2^-72
	x := big.NewInt(int64(math.Ldexp(fraction, 53)))
	x.Lsh(x, uint(expDigits+exponent-53))

	// e^epsilon = 1 + x (1 + x/2 (1 + x/3 ...)), term by term.
	term := new(big.Int).Lsh(big.NewInt(1), expDigits)
	e := new(big.Int).Set(term)
	for i := int64(1); term.Sign() > 0; i++ {
		term.Mul(term, x)
		term.Rsh(term, expDigits)
		term.Quo(term, big.NewInt(i))
		e.Add(e, term)
	}
	return e
}
