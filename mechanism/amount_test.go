package mechanism

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func (a Amount) big() *big.Int {
	x := new(big.Int).SetUint64(a.hi)
	return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(a.lo))
}

// unitsUp returns x 2^96 rounded up, the slow way.
func unitsUp(x *big.Rat) *big.Int {
	x = new(big.Rat).Mul(x, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 96)))
	q, r := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if r.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func randomAmount(r *rand.Rand) Amount {
	a := Amount{r.Uint64(), r.Uint64()}
	shift := r.IntN(129)
	if shift >= 64 {
		return Amount{0, a.hi >> (shift - 64)}
	}
	return Amount{a.hi >> shift, a.lo}
}

func TestAmountArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	overflows := 0
	for range 20000 {
		a, b := randomAmount(r), randomAmount(r)
		want := new(big.Int).Add(a.big(), b.big())
		sum, ok := a.add(b)
		if ok != (want.Cmp(limit) < 0) || ok && sum.big().Cmp(want) != 0 {
			t.Fatalf("%v + %v = %v, %v", a.big(), b.big(), sum.big(), ok)
		}
		if !ok {
			overflows++
		}
		if ok && sum.minus(b) != a {
			t.Fatalf("%v + %v - the second is not the first", a.big(), b.big())
		}
		if a.Cmp(b) != a.big().Cmp(b.big()) {
			t.Fatalf("%v against %v", a.big(), b.big())
		}
		// Float is the least float64 at or above.
		f := a.Float()
		exact := new(big.Rat).SetFrac(a.big(), new(big.Int).Lsh(big.NewInt(1), 96))
		if new(big.Rat).SetFloat64(f).Cmp(exact) < 0 {
			t.Fatalf("%v as a float is less", a.big())
		}
		if f != 0 && new(big.Rat).SetFloat64(math.Nextafter(f, 0)).Cmp(exact) >= 0 {
			t.Fatalf("%v as a float is %g, more than the next one", a.big(), f)
		}
	}
	if overflows == 0 {
		t.Error("no case overflowed")
	}
	if s := (Amount{1 << 31, 0}).String(); s != "0.5" {
		t.Errorf("half: %s", s)
	}
}

func TestAmountsAreRoundedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	half := big.NewRat(1, 2)
	for range 20000 {
		x := math.Ldexp(r.Float64()+0x1p-60, r.IntN(180)-145)
		exact := new(big.Rat).SetFloat64(x)
		a, ok := amountOf(x)
		want := unitsUp(exact)
		if ok != (want.BitLen() <= 128) || ok && a.big().Cmp(want) != 0 {
			t.Fatalf("%g: %v, %v, want %v", x, a.big(), ok, want)
		}
		a, ok = amountOfHalfSquare(x)
		want = unitsUp(exact.Mul(exact, exact).Mul(exact, half))
		if ok != (want.BitLen() <= 128) || ok && a.big().Cmp(want) != 0 {
			t.Fatalf("%g^2/2: %v, %v, want %v", x, a.big(), ok, want)
		}
	}
	one := Amount{0, 1}
	for _, x := range []float64{0x1p-96, 0x1p-97, 1e-300, math.SmallestNonzeroFloat64} {
		if a, ok := amountOf(x); a != one || !ok {
			t.Errorf("%g vanishes: %v", x, a.big())
		}
		if a, ok := amountOfHalfSquare(x); a != one || !ok {
			t.Errorf("%g^2 vanishes: %v", x, a.big())
		}
	}
}

// The price of a Gaussian release is the formula of the multiplier, floored,
// and above the true cost of the noise.
func TestAmountOfGaussian(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		epsilon := math.Pow(10, -6+8*r.Float64())
		delta := math.Pow(10, -100+99*r.Float64())
		if i < 4 { // the corners
			epsilon, delta = [2]float64{1e-6, 100}[i%2], [2]float64{1e-100, 0.1}[i/2]
		}
		a := amountOfGaussian(epsilon, delta)
		c0 := multiplier(epsilon, delta)

		c1 := new(big.Rat).SetFloat64(c0 * (1 + 0x1p-41))
		rho := c1.Inv(c1.Mul(c1, c1))
		rho.Mul(rho, big.NewRat(1, 2))
		up := unitsUp(rho)
		if d := up.Sub(up, a.big()).Int64(); d != 0 && d != 1 { // 0 only if there was nothing to round
			t.Fatalf("epsilon %g, delta %g: off by %d units", epsilon, delta, d)
		}

		// Both roundings of the multiplier against it.
		c := new(big.Rat).SetFloat64(c0 * (1 + 0x1p-40))
		c.Mul(c, c)
		rho.Mul(c.Inv(c), big.NewRat(1, 2))
		if unitsUp(rho).Cmp(a.big()) > 0 {
			t.Fatalf("epsilon %g, delta %g: the noise costs more than its price", epsilon, delta)
		}
	}
}
