package mechanism

import (
	"crypto/sha256"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// bigHockeyStick returns d(t) for any real t, by its definition. Tails beyond 60, which
// are below 1e-780, count as 0, for t < 0 as those of 1 - e^t + e^t d(-t).
func bigHockeyStick(mu, t *big.Float) *big.Float {
	x, half := bigQuo(t, mu), bigMul(mu, bigOf(0.5))
	switch far, _ := bigSub(x, half).Float64(); {
	case far > 60:
		return bigOf(0)
	case far < -60:
		return bigSub(bigOf(1), bigExp(t))
	}
	return bigSub(bigTail(bigSub(x, half)), bigMul(bigExp(t), bigTail(bigAdd(x, half))))
}

// bigMixed returns delta(epsilon) of randomised response E together with a
// Gaussian mu.
func bigMixed(pure, mu, epsilon float64) *big.Float {
	e := bigExp(bigOf(pure))
	all := bigAdd(bigOf(1), e)
	first := bigMul(bigQuo(e, all), bigHockeyStick(bigOf(mu), bigSub(bigOf(epsilon), bigOf(pure))))
	second := bigMul(bigQuo(bigOf(1), all), bigHockeyStick(bigOf(mu), bigAdd(bigOf(epsilon), bigOf(pure))))
	return bigAdd(first, second)
}

// The curve against 1200-bit arithmetic, on both sides of epsilon = E.
func TestCurveOfMixed(t *testing.T) {
	for _, pure := range []float64{1e-6, 0.1, 1, 5, 30} {
		for _, mu := range []float64{1e-3, 0.1, 0.7, 3} {
			for _, epsilon := range []float64{0, pure / 2, pure, 1.01 * pure, pure + mu, pure + 5*mu} {
				want, _ := bigMixed(pure, mu, epsilon).Float64()
				got := math.Exp(logDeltaOfMixed(pure, mu, epsilon))
				if !(math.Abs(got-want) <= 1e-9*want) {
					t.Errorf("E %g, mu %g: delta(%g) = %.15g, want %.15g", pure, mu, epsilon, got, want)
				}
			}
		}
	}
}

// By the definition of (epsilon, delta)-privacy: the sum over all outcomes of a fine
// grid of (P - e^epsilon Q)^+, for the response and the Gaussian drawn together.
func TestCurveOfMixedByDefinition(t *testing.T) {
	const pure, mu, step = 0.8, 0.9, 1e-3
	for _, epsilon := range []float64{0, 0.5, 1.5, 2.5} {
		keep := 1 / (1 + math.Exp(-pure))
		sum := 0.0
		for _, odds := range [][2]float64{{keep, 1 - keep}, {1 - keep, keep}} {
			for x := -12.0; x < 12; x += step {
				at := func(mean float64) float64 {
					return (math.Erfc((x-mean)/math.Sqrt2) - math.Erfc((x+step-mean)/math.Sqrt2)) / 2
				}
				sum += max(0, odds[0]*at(mu)-math.Exp(epsilon)*odds[1]*at(0))
			}
		}
		if got := math.Exp(logDeltaOfMixed(pure, mu, epsilon)); math.Abs(got-sum) > 1e-6 {
			t.Errorf("delta(%g) = %.9g, by definition %.9g", epsilon, got, sum)
		}
	}
}

// The Gaussian pot never promises more than (epsilon, delta), and is nearly the
// largest possible: both by 1200-bit arithmetic. It is never smaller than basic
// composition allows.
func TestMixedTotals(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	cases := []Total{
		{Mixed, 2, 1e-6, 1}, {Mixed, 1, 1e-6, 0.5}, {Mixed, 1, 1e-6, 0.9}, {Mixed, 100, 1e-100, 50}, {Mixed, 100, 0.1, 1e-6},
		{Mixed, 2e-6, 1e-100, 1e-6}, {Mixed, 2e-6, 0.1, 1e-6}, {Mixed, 100, 1e-12, 100 - 2e-6}, {Mixed, 0.1, 1e-5, 1e-6},
	}
	for range 40 {
		epsilon := math.Pow(10, -5+7*r.Float64())
		cases = append(cases, Total{Mixed, epsilon, math.Pow(10, -1-99*r.Float64()*r.Float64()), epsilon * (0.01 + 0.98*r.Float64())})
	}
	for _, c := range cases {
		whole, err := c.pots()
		if err != nil {
			t.Fatal(err)
		}
		if whole.Pure.Float() != c.PureEpsilon {
			t.Errorf("%+v: pure pot %v", c, whole.Pure)
		}
		// A float at or above the mu of the pot, and one a little above.
		rho := whole.Rho.Float()
		mu := up(math.Sqrt(2 * rho))
		if over := bigMixed(c.PureEpsilon, mu, c.Epsilon); over.Cmp(bigOf(c.Delta)) > 0 {
			t.Errorf("%+v: the pots are worth delta %.15g", c, over)
		}
		if under := bigMixed(c.PureEpsilon, mu*(1+1e-11), c.Epsilon); under.Cmp(bigOf(c.Delta)) <= 0 {
			t.Errorf("%+v: there is room for more than mu %g", c, mu)
		}
		if basic := amountOfGaussian(c.Epsilon-c.PureEpsilon, c.Delta).Float(); rho < basic*(1-1e-11) {
			t.Errorf("%+v: rho %g, less than the %g of basic composition", c, rho, basic)
		}
		e := Mixed.epsilonAt(whole, c.Delta)
		if !(e >= c.Epsilon*(1-1e-6) && e <= c.Epsilon*(1+1e-6)) {
			t.Errorf("%+v: its pots are worth epsilon %.15g", c, e)
		}
	}
}

// epsilonOfMixed is the least epsilon of its delta, by 1200-bit arithmetic.
func TestEpsilonOfMixed(t *testing.T) {
	for _, c := range [][3]float64{{1, 0.3, 1e-6}, {0.2, 2, 1e-9}, {5, 0.01, 1e-5}, {1e-3, 1e-3, 0.01}, {3, 1e-4, 1e-3}} {
		pure, mu, delta := c[0], c[1], c[2]
		e := epsilonOfMixed(pure, mu, delta)
		if e > 0 && bigMixed(pure, mu, e*(1-1e-9)).Cmp(bigOf(delta)) <= 0 || bigMixed(pure, mu, e).Cmp(bigOf(delta)) > 0 {
			t.Errorf("E %g, mu %g at delta %g: epsilon %.15g is not the least", pure, mu, delta, e)
		}
		if basic := pure + epsilonAt(mu, delta); e > basic {
			t.Errorf("epsilon %g above the %g of basic composition", e, basic)
		}
	}
	if e := epsilonOfMixed(1e-7, 1e-7, 0.1); e != 0 {
		t.Errorf("what delta covers is worth epsilon %g", e)
	}
}

// A mixed ledger pays what a gdp ledger of the same total refuses.
func TestMixedPaysBoth(t *testing.T) {
	both := said(Spend{Epsilon: 1, Delta: 1e-6, PureEpsilon: 0.5})
	gdp, _ := newLedgerDisk(t, Total{Kind: GDP, Epsilon: 2, Delta: 1e-6})
	if _, err := gdp.Reserve(alice, releaseID(0), both); !errors.Is(err, ErrBudgetExceeded) {
		t.Errorf("gdp: %v", err)
	}
	small, _ := newLedgerDisk(t, Total{Kind: GDP, Epsilon: 1, Delta: 1e-6})
	if _, err := small.Reserve(alice, releaseID(0), said(Spend{PureEpsilon: 0.19})); !errors.Is(err, ErrBudgetExceeded) {
		t.Errorf("gdp: %v", err)
	}
	mustReserve(t, small, alice, 1, Spend{PureEpsilon: 0.1889})
	l, d := newLedgerDisk(t, Total{Kind: Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 1})
	mustReserve(t, l, alice, 0, both)
	_, err := l.Reserve(alice, releaseID(1), both)
	var b *BudgetError
	if !errors.As(err, &b) || b.Remaining.Pure.Float() != 0.5 || b.Asked.Pure.Float() != 0.5 {
		t.Fatalf("%v", err)
	}
	for _, words := range []string{"asked pure epsilon 0.5 and rho 0.0280", "(alone epsilon 1, with the pure one 1.5 by basic composition)", "remaining pure epsilon 0.5 and rho 0.00", "of epsilon 2 at delta 1e-06 (mixed)"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%q lacks %q", err, words)
		}
	}
	// The pure pot still pays when the Gaussian one is used up, to its last
	// unit.
	mustReserve(t, l, alice, 2, Spend{PureEpsilon: 0.5})
	if _, err := l.Reserve(alice, releaseID(3), said(Spend{PureEpsilon: 1e-300})); !errors.Is(err, ErrBudgetExceeded) {
		t.Errorf("%v", err)
	}
	left, _ := l.Remaining(alice)
	mustReserve(t, l, alice, 4, Spend{Rho: left.Rho.Float() * (1 - 1e-12)})
	// Another unit has its own pots.
	mustReserve(t, l, bob, 5, both)
	again, _, err := load(d.durable)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []Unit{alice, bob} {
		want, _ := l.Spent(u)
		if got, err := again.Spent(u); err != nil || got != want {
			t.Errorf("%v read, %v written, %v", got, want, err)
		}
	}
}

// Whatever the order and size of spends, no unit gets more than its pots.
func TestMixedIsNotOverspent(t *testing.T) {
	total := Total{Kind: Mixed, Epsilon: 1.5, Delta: 1e-6, PureEpsilon: 0.6}
	whole, _ := total.pots()
	r := rand.New(rand.NewPCG(13, 14))
	for range 20 {
		l, d := newLedgerDisk(t, total)
		rho, pure := 0.0, 0.0
		for i := range 200 {
			var s Spend
			if r.IntN(3) > 0 {
				s.Rho = whole.Rho.Float() * math.Pow(10, -3*r.Float64())
			}
			if s.Rho == 0 || r.IntN(2) > 0 {
				s.PureEpsilon = total.PureEpsilon * math.Pow(10, -3*r.Float64())
			}
			if _, err := l.Reserve(alice, releaseID(i), said(s)); err == nil {
				rho, pure = rho+s.Rho, pure+s.PureEpsilon
			} else if !errors.Is(err, ErrBudgetExceeded) {
				t.Fatal(err)
			}
		}
		if rho > whole.Rho.Float()*(1+1e-12) || pure > total.PureEpsilon*(1+1e-12) {
			t.Fatalf("spent rho %g of %v, pure %g of %g", rho, whole.Rho, pure, total.PureEpsilon)
		}
		if e, err := l.EpsilonAt(alice, total.Delta); err != nil || e > total.Epsilon {
			t.Fatal(e, err)
		}
		if _, _, err := load(d.durable); err != nil {
			t.Fatal(err)
		}
	}
}

// A header or a record of a mixed ledger that could not have been written is refused.
func TestMixedDamage(t *testing.T) {
	total := Total{Kind: Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 1}
	whole := func() []byte {
		l, d := newLedgerDisk(t, total)
		mustReserve(t, l, Unit{Kind: release.UnitRecord, Name: "x", New: true}, 0, Spend{Rho: 0.001, PureEpsilon: 0.25})
		return d.durable
	}
	seal := func(data []byte) []byte {
		header, record := (*block)(data[:blockSize]), (*block)(data[blockSize:])
		header.setSum(sha256.Sum256(header[:bodySize]))
		record.setSum(record.chain(header.sum()))
		return data
	}
	if _, _, err := load(seal(whole())); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(header, record *block){
		"rho doubled":        func(h, _ *block) { h.setFloat(80, 2*h.float(80)) },
		"rho NaN":            func(h, _ *block) { h.setFloat(80, math.NaN()) },
		"rho 0":              func(h, _ *block) { h.setFloat(80, 0) },
		"pure pot larger":    func(h, _ *block) { h.setFloat(88, 1.5) },
		"pure pot NaN":       func(h, _ *block) { h.setFloat(88, math.NaN()) },
		"pure pot all":       func(h, _ *block) { h.setFloat(88, 2) },
		"version 1":          func(h, _ *block) { h[8] = 1 },
		"gdp with version 2": func(h, _ *block) { h[12] = byte(GDP) },
		"pure negative":      func(_, r *block) { r.setFloat(88, -0.25) },
		"pure NaN":           func(_, r *block) { r.setFloat(88, math.NaN()) },
		"pure too large":     func(_, r *block) { r.setFloat(88, 1.25) },
		"rho too large":      func(_, r *block) { r.setAmount(48, Amount{1 << 32, 0}) },
		"nothing":            func(_, r *block) { r.setAmount(48, Amount{}); r.setFloat(88, 0) },
	} {
		data := whole()
		change((*block)(data[:blockSize]), (*block)(data[blockSize:]))
		if _, _, err := load(seal(data)); !errors.Is(err, ErrLedger) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
