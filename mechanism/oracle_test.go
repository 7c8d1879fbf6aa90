package mechanism

import (
	"math"
	"math/big"
	"testing"
)

// The oracle: normal probabilities and the privacy curve in 1200-bit
// arithmetic, from power series, without any code of the package.
const oracleBits = 1200

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(oracleBits).SetFloat64(x) }

func bigOp(op func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float {
	return op(new(big.Float).SetPrec(oracleBits), x, y)
}

func bigMul(x, y *big.Float) *big.Float { return bigOp((*big.Float).Mul, x, y) }
func bigQuo(x, y *big.Float) *big.Float { return bigOp((*big.Float).Quo, x, y) }
func bigAdd(x, y *big.Float) *big.Float { return bigOp((*big.Float).Add, x, y) }
func bigSub(x, y *big.Float) *big.Float { return bigOp((*big.Float).Sub, x, y) }

// small reports whether a term is negligible in a sum.
func small(term, sum *big.Float) bool {
	return term.Sign() == 0 || sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-oracleBits
}

// bigExp returns e^x by the series at x/2^20, squared twenty times.
func bigExp(x *big.Float) *big.Float {
	const halvings = 20
	y := new(big.Float).SetMantExp(x, -halvings)
	sum, term := bigOf(1), bigOf(1)
	for n := 1.0; ; n++ {
		term = bigQuo(bigMul(term, y), bigOf(n))
		if small(term, sum) {
			break
		}
		sum = bigAdd(sum, term)
	}
	for range halvings {
		sum = bigMul(sum, sum)
	}
	return sum
}

// bigPi is 16 atan(1/5) - 4 atan(1/239).
var bigPi = func() *big.Float {
	atan := func(q float64) *big.Float {
		power := bigQuo(bigOf(1), bigOf(q))
		sum, square := bigOf(0), bigOf(q*q)
		for n := 1.0; ; n += 2 {
			term := bigQuo(power, bigOf(n))
			if math.Mod(n, 4) == 3 {
				term.Neg(term)
			}
			if small(term, sum) {
				return sum
			}
			sum, power = bigAdd(sum, term), bigQuo(power, square)
		}
	}
	return bigSub(bigMul(bigOf(16), atan(5)), bigMul(bigOf(4), atan(239)))
}()

// bigTail returns the upper tail of the standard normal,
// 1/2 - phi(x) (x + x^3/3 + x^5/(3 5) + ...).
func bigTail(x *big.Float) *big.Float {
	square := bigMul(x, x)
	density := bigQuo(bigExp(bigMul(square, bigOf(-0.5))), new(big.Float).SetPrec(oracleBits).Sqrt(bigMul(bigOf(2), bigPi)))
	sum, term := bigOf(0), new(big.Float).Copy(x)
	for n := 3.0; !small(term, sum); n += 2 {
		sum = bigAdd(sum, term)
		term = bigQuo(bigMul(term, square), bigOf(n))
	}
	return bigSub(bigOf(0.5), bigMul(density, sum))
}

// bigCurve returns Phic(a) - e^epsilon Phic(b) for a noise multiplier s.
func bigCurve(s, epsilon *big.Float) *big.Float {
	centre, half := bigMul(epsilon, s), bigQuo(bigOf(0.5), s)
	return bigSub(bigTail(bigSub(centre, half)), bigMul(bigExp(epsilon), bigTail(bigAdd(centre, half))))
}

// cell is the chance that the nearest integer to S Z is j, for the tests of the
// sampler.
func cell(multiple, j int64) float64 {
	at := func(x float64) float64 { return math.Erfc(x/float64(multiple)/math.Sqrt2) / 2 }
	x := math.Abs(float64(j))
	return at(x-0.5) - at(x+0.5)
}

func TestOracle(t *testing.T) {
	// Digits of e, pi and Phic(1), Phic(6) from tables.
	for _, test := range []struct {
		name  string
		value *big.Float
		want  string
	}{
		{"e", bigExp(bigOf(1)), "2.71828182845904523536028747135"},
		{"pi", bigPi, "3.14159265358979323846264338328"},
		{"tail(1)", bigTail(bigOf(1)), "0.158655253931457051414767454368"},
		{"tail(6)", bigTail(bigOf(6)), "0.000000000986587645037698140701"},
	} {
		want, _, err := big.ParseFloat(test.want, 10, oracleBits, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := bigQuo(bigSub(test.value, want), want).Float64(); math.Abs(e) > 1e-20 {
			t.Errorf("%s = %.30g, want %s", test.name, test.value, test.want)
		}
	}
	// The cells of the chi-square tests.
	for _, multiple := range smallGrids {
		at := func(j int64) *big.Float { return bigTail(bigQuo(bigOf(float64(j)-0.5), bigOf(float64(multiple)))) }
		tail := at(0)
		for j := range 6 * multiple {
			next := at(j + 1)
			want, _ := bigSub(tail, next).Float64()
			if got := cell(multiple, j); math.Abs(got/want-1) > 1e-10 || cell(multiple, -j) != got {
				t.Errorf("S = %d: cell %d has chance %g, want %g", multiple, j, got, want)
			}
			tail = next
		}
	}
}
