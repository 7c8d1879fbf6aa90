package scheme

import (
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

const precision = 400 // bits

func real(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// series returns the sum of terms that begin with first and go on by next, which multiplies a
// term, until they do not count any more.
func series(first *big.Float, next func(term *big.Float, n int64)) *big.Float {
	sum, term := real(0).Set(first), real(0).Set(first)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > sum.MantExp(nil)-precision; n++ {
		next(term, n)
		sum.Add(sum, term)
	}
	return sum
}

// inverseTangent returns that of 1/n.
func inverseTangent(n int64) *big.Float {
	power, square := real(0).Quo(real(1), real(float64(n))), real(float64(n*n))
	sum := real(0).Set(power)
	for k := int64(1); power.MantExp(nil) > -precision; k++ {
		power.Quo(power, square)
		term := real(0).Quo(power, real(float64(2*k+1)))
		if k%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}

// within returns the chance that a Gaussian of the given deviation is within j + 1/2 of 0.
func within(j int64, deviation *big.Float) *big.Float {
	a := real(float64(j) + .5)
	a.Quo(a, deviation)
	square := real(0).Mul(a, a)
	half := real(0).Quo(square, real(2))
	// The integral of exp(-x^2/2) from 0 to a is exp(-a^2/2) (a + a^3/3 + a^5/15 + ...).
	sum := series(a, func(term *big.Float, n int64) {
		term.Quo(term.Mul(term, square), real(float64(2*n+1)))
	})
	exp := series(real(1), func(term *big.Float, n int64) {
		term.Quo(term.Mul(term, half), real(float64(n)))
	})
	// Machin: pi/4 = 4 atan(1/5) - atan(1/239).
	pi := real(0).Sub(real(0).Mul(real(4), inverseTangent(5)), inverseTangent(239))
	pi.Mul(pi, real(4))
	root := real(0).Sqrt(pi.Quo(pi, real(2)))
	return sum.Quo(sum, exp).Quo(sum, root)
}

// The table is the rounded Gaussian, to the last bit, and 59 is the largest error it has.
func TestErrorTable(t *testing.T) {
	deviation := real(0).Quo(real(64), real(10))
	unit := real(0).SetMantExp(real(1), 63)
	for j := range int64(MaxError + 1) {
		p := within(j, deviation)
		want, _ := p.Mul(p, unit).Add(p, real(.5)).Uint64() // which rounds down
		got := uint64(1 << 63)                              // beyond the table
		if j < MaxError {
			got = ErrorTable()[j]
		}
		if got != want {
			t.Errorf("entry %d is %#x, want %#x", j, got, want)
		}
	}
}

// chances returns those of sizes 0 to MaxError, in units of 2^-63.
func chances() (out [MaxError + 1]uint64) {
	below := uint64(0)
	for j, most := range ErrorTable() {
		out[j] = most - below
		below = most
	}
	out[MaxError] = 1<<63 - below
	return out
}

// The law is sub-Gaussian with Tau. A symmetric law is, where its moments of even order 2k are at
// most those of a Gaussian of deviation Tau, Tau^2k (2k-1)!!: then the series of its moment
// generating function is below that of exp(lambda^2 Tau^2/2), term by term. Moments of errors are
// at most MaxError^2k, and (2k-1)!! is above (2k/e)^k, so that orders up to MaxError^2 e / Tau^2
// decide.
func TestTau(t *testing.T) {
	const last = 120 // 2*120 is above 59^2 * 2.7183 / 6.4066^2 = 230.6
	if 2*last < MaxError*MaxError*2.7183/(Tau*Tau) {
		t.Fatal("more moments must be looked at")
	}
	law := chances()
	tau := big.NewRat(64066, 10000)
	if f, _ := tau.Float64(); f != Tau {
		t.Fatal("another tau")
	}
	limit := big.NewRat(1, 1)
	for k := int64(1); k <= last; k++ {
		limit.Mul(limit, tau).Mul(limit, tau).Mul(limit, big.NewRat(2*k-1, 1))
		moment := new(big.Int)
		for j, p := range law {
			power := new(big.Int).Exp(big.NewInt(int64(j)), big.NewInt(2*k), nil)
			moment.Add(moment, power.Mul(power, new(big.Int).SetUint64(p)))
		}
		have := new(big.Rat).SetFrac(moment, new(big.Int).Lsh(big.NewInt(1), 63))
		if have.Cmp(limit) > 0 {
			t.Errorf("moment %d is beyond that of tau", 2*k)
		}
		// And no tau that is smaller by 3e-5 of itself would do.
		if less := big.NewRat(99994, 100000); k == 1 && have.Cmp(less.Mul(less, limit)) < 0 {
			t.Errorf("tau is larger than it must be")
		}
	}
}

// The page for writers of clients has the table, and so has the client in Python.
func TestThePageHasTheTable(t *testing.T) {
	entry := regexp.MustCompile(`\b[0-9a-f]{16}\b`)
	for _, path := range []string{"../../../../docs/sealed.md", "../../../../examples/sealed-client/client.py"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, digits := range entry.FindAllString(string(text), -1) {
			v, err := strconv.ParseUint(digits, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
		if want := ErrorTable(); !slices.Equal(got, want[:]) {
			t.Errorf("%s: %d entries %x", path, len(got), got)
		}
	}
}
