package scheme

import (
	"fmt"
	"math"
)

// The core-SVP model of Alkim, Ducas, Pöppelmann and Schwabe ("Post-quantum key exchange - a new
// hope", USENIX Security 2016, section 6) counts one call of a sieve in the block size b, as
// 2^(.292 b) operations, or 2^(.265 b) with a quantum computer. Everything else is left out:
// further calls, factors that are polynomial in b, and the memory of the sieve, 2^(.2075 b)
// vectors. A uniform secret of n words is as hard as one that follows the law of errors, at the
// price of n samples (Applebaum, Cash, Peikert and Sahai, CRYPTO 2009).
const (
	classical = .292
	quantum   = .265
	vectors   = .2075 // that a sieve returns
)

// hermite returns the logarithm to base 2 of the root Hermite factor of block size b:
// ((pi b)^(1/b) b / (2 pi e))^(1/(2b-2)).
func hermite(b float64) float64 {
	return math.Log2(math.Pow(math.Pi*b, 1/b)*b/(2*math.Pi*math.E)) / (2*b - 2)
}

// primal returns the logarithm of what the primal attack takes: sieve times the least b for which
//
//	sigma sqrt(b) <= delta^(2b-d-1) q^(m/d),  d = m + n + 1,
//
// holds for some number m of samples.
func primal(sieve float64, n int, q, sigma float64) float64 {
	for b := 60.0; ; b++ {
		error, delta := math.Log2(sigma)+math.Log2(b)/2, hermite(b)
		for m := n / 2; m < 3*n; m += 4 {
			d := float64(m + n + 1)
			if error <= (2*b-d-1)*delta+math.Log2(q)*float64(m)/d {
				return sieve * b
			}
		}
	}
}

// dual returns the logarithm of what the dual attack takes, the least over b and m. A vector of
// length l = delta^(d-1) q^(n/d), d = m + n, tells samples from random numbers with an advantage of
// 4 exp(-2 (pi l sigma/q)^2). A sieve returns 2^(.2075 b) vectors, and has to be called again
// until there are as many as the square of the inverse of that, for an advantage of about 1. For one
// of 1/share, fewer do, by the square of share.
func dual(sieve float64, n int, q, sigma, share float64) float64 {
	least := math.Inf(1)
	for b := 60.0; sieve*b < least; b++ {
		delta := hermite(b)
		for m := n / 2; m < 3*n; m += 4 {
			d := float64(m + n)
			length := math.Exp2((d-1)*delta + math.Log2(q)*float64(n)/d)
			advantage := 2 - 2*math.Pow(math.Pi*length*sigma/q, 2)*math.Log2E
			least = min(least, sieve*b+max(0, -2*advantage-2*math.Log2(share)-vectors*b))
		}
	}
	return least
}

// The estimates of docs/sealed.md: for one ciphertext, for the 8 of a query and for those of a
// million queries. Whoever sees Q ciphertexts has at most Q times the advantage of one who sees one
// (a hybrid argument), so that Q times fewer operations may do. That is a bound because an attack on
// one ciphertext with 1/Q of the advantage takes more than 1/Q of the operations, as the last number of
// a line shows for the dual attack. The last line is for the secrets of the SimplePIR paper. All numbers
// are rounded down.
func Example_hardness() {
	show := func(n int, sieve float64, ciphertexts ...float64) {
		p, d := primal(sieve, n, 1<<32, Deviation), dual(sieve, n, 1<<32, Deviation, 1)
		for _, q := range ciphertexts {
			fmt.Printf("%d words, sieve %g, %8.0f ciphertexts: primal 2^%.0f, dual 2^%.0f (one, 1/Q: 2^%.0f)\n",
				n, sieve, q, math.Floor(p-math.Log2(q)), math.Floor(d-math.Log2(q)), math.Floor(dual(sieve, n, 1<<32, Deviation, q)))
		}
	}
	show(SecretWords, classical, 1, 8, 8e6)
	show(SecretWords, quantum, 1, 8, 8e6)
	show(1024, classical, 1)
	// Output:
	// 1408 words, sieve 0.292,        1 ciphertexts: primal 2^146, dual 2^145 (one, 1/Q: 2^145)
	// 1408 words, sieve 0.292,        8 ciphertexts: primal 2^143, dual 2^142 (one, 1/Q: 2^144)
	// 1408 words, sieve 0.292,  8000000 ciphertexts: primal 2^123, dual 2^122 (one, 1/Q: 2^141)
	// 1408 words, sieve 0.265,        1 ciphertexts: primal 2^132, dual 2^131 (one, 1/Q: 2^131)
	// 1408 words, sieve 0.265,        8 ciphertexts: primal 2^129, dual 2^128 (one, 1/Q: 2^131)
	// 1408 words, sieve 0.265,  8000000 ciphertexts: primal 2^109, dual 2^109 (one, 1/Q: 2^128)
	// 1024 words, sieve 0.292,        1 ciphertexts: primal 2^95, dual 2^94 (one, 1/Q: 2^94)
}
