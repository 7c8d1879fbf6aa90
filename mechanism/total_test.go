package mechanism

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func amountsAgree(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }

// From 150-digit arithmetic: 4 z^2, erfc(z) = 2/(1 + e^epsilon).
func TestPureEpsilonInGDP(t *testing.T) {
	for _, c := range []struct{ epsilon, rho float64 }{
		{1e-6, 7.8539816339742015e-13},
		{0.01, 7.853953542836713e-5},
		{0.1, 0.0078511742707244098},
		{0.5, 0.19462098323769776},
		{1, 0.75895559537097932},
		{2, 2.7799911838978925},
		{4, 8.7968232051229691},
		{8, 23.137470296906419},
		{30, 108.27052192136237},
		{100, 385.77953303864673},
	} {
		if got := rhoOfPure(c.epsilon); got < c.rho || !amountsAgree(got, c.rho, 1e-11) {
			t.Errorf("epsilon %g: rho %.17g, want %.17g or a little more", c.epsilon, got, c.rho)
		}
	}
	// The two forms of the equation agree where they meet, and nothing vanishes.
	if a, b := rhoOfPure(math.Nextafter(1, 0)), rhoOfPure(1); !amountsAgree(a, b, 1e-14) {
		t.Errorf("rho jumps at 1: %g, %g", a, b)
	}
	if a, err := GDP.Price(Spend{PureEpsilon: 1e-300}); err != nil || a != (Pots{Rho: Amount{0, 1}}) {
		t.Errorf("tiny epsilon: %v, %v", a, err)
	}
}

// From 60-digit arithmetic.
func TestTotalOfZCDP(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, rho float64 }{
		{1e-6, 1e-100, 1.1938622467011877e-15},
		{1e-6, 1e-12, 2.5473156021863433e-14},
		{1e-6, 1e-5, 1.5264870641421876e-10},
		{1e-6, 0.1, 0.013653530500892984},
		{0.01, 1e-100, 1.1437621513004168e-7},
		{0.01, 1e-5, 6.5431281807452744e-6},
		{0.1, 1e-12, 0.00012108933278432064},
		{0.1, 0.1, 0.03051637988568911},
		{1, 1e-100, 0.0011177986873161037},
		{1, 1e-5, 0.030556595197639566},
		{1, 0.1, 0.2683129140135049},
		{5, 1e-12, 0.23412232866796564},
		{5, 0.1, 2.0536624209510473},
		{20, 1e-5, 5.3920380437414679},
		{100, 1e-100, 9.0815696903712205},
		{100, 1e-12, 37.29428257722976},
		{100, 0.1, 76.33357631407387},
	} {
		a, err := Total{Kind: ZCDP, Epsilon: c.epsilon, Delta: c.delta}.pots()
		if got := a.Rho.Float(); err != nil || got > c.rho || !amountsAgree(got, c.rho, 1e-11) {
			t.Errorf("epsilon %g, delta %g: rho %.17g, %v, want %.17g or a little less", c.epsilon, c.delta, got, err, c.rho)
		}
		if got := epsilonOfZCDP(c.rho, c.delta); !amountsAgree(got, c.epsilon, 1e-9) {
			t.Errorf("rho %g, delta %g: epsilon %.17g, want %g", c.rho, c.delta, got, c.epsilon)
		}
	}
	// Far outside any budget the conversion stays above the trivial bounds.
	for _, rho := range []float64{1e3, 1e6, 1e9} {
		if e := epsilonOfZCDP(rho, 1e-5); !(e > rho && e <= epsilonBound(rho, -math.Log(1e-5))) {
			t.Errorf("rho %g: epsilon %g", rho, e)
		}
		if l := logDeltaOfZCDP(rho, 1); !(math.Abs(l) < 1e-9) {
			t.Errorf("rho %g: ln delta %g", rho, l)
		}
	}
}

// compositions is a table of releases, each calibrated to (epsilon, delta), all
// of them together read at another delta.
var compositions = []struct {
	epsilon, delta float64
	times          int
	at             float64
	rho, gdp, zcdp float64
}{
	{0.1, 1e-6, 1, 1e-6, 0.000379353878527, 0.1, 0.1092801989596},
	{0.1, 1e-6, 10, 1e-5, 0.003793538785274, 0.293104201887, 0.3232857417802},
	{0.1, 1e-6, 100, 1e-5, 0.03793538785274, 1.030345303027, 1.125039951075},
	{0.1, 1e-6, 1000, 1e-5, 0.3793538785274, 3.733271450668, 4.037753756456},
	{0.5, 1e-8, 20, 1e-6, 0.1027862273457, 2.024753653527, 2.174224880621},
	{1, 1e-6, 2, 1e-5, 0.05602896382526, 1.277050844006, 1.392196650673},
	{1, 1e-6, 10, 1e-5, 0.2801448191263, 3.13976000334, 3.400275064824},
	{1, 1e-6, 100, 1e-5, 2.801448191263, 12.32783085034, 13.19901096617},
}

func TestCompositionOfAmounts(t *testing.T) {
	for _, c := range compositions {
		price, err := GDP.Price(Spend{Epsilon: c.epsilon, Delta: c.delta})
		if err != nil {
			t.Fatal(err)
		}
		var sum Pots
		for range c.times {
			sum, _ = sum.add(price)
		}
		if !amountsAgree(sum.Rho.Float(), c.rho, 1e-11) {
			t.Errorf("%+v: rho %.15g", c, sum.Rho.Float())
		}
		if got := GDP.epsilonAt(sum, c.at); !amountsAgree(got, c.gdp, 1e-11) {
			t.Errorf("%+v: epsilon %.15g", c, got)
		}
		if got := ZCDP.epsilonAt(sum, c.at); !amountsAgree(got, c.zcdp, 1e-11) {
			t.Errorf("%+v: epsilon by zCDP %.15g", c, got)
		}
	}
}

// A release at the whole budget fits exactly.
func TestWholeBudgetFits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		epsilon := math.Pow(10, -6+8*r.Float64())
		delta := math.Pow(10, -100+99*r.Float64())
		total, err := Total{Kind: GDP, Epsilon: epsilon, Delta: delta}.pots()
		if err != nil {
			t.Fatal(err)
		}
		price, err := GDP.Price(Spend{Epsilon: epsilon, Delta: delta})
		if err != nil || price != total {
			t.Fatalf("epsilon %g, delta %g: price %v, total %v, %v", epsilon, delta, price, total, err)
		}
		total, _ = Total{Kind: Pure, Epsilon: epsilon, Delta: 0}.pots()
		if price, err := Pure.Price(Spend{PureEpsilon: epsilon}); err != nil || price != total {
			t.Fatalf("pure epsilon %g: price %v, total %v, %v", epsilon, price, total, err)
		}
		// Stated as rho, which the noise of that release has, it also fits.
		c := multiplier(epsilon, delta) * (1 + 0x1p-40)
		total, _ = Total{Kind: GDP, Epsilon: epsilon, Delta: delta}.pots()
		if price, err := GDP.Price(Spend{Rho: 1 / (2 * c * c) * (1 + 0x1p-50)}); err != nil || !price.within(total) {
			t.Fatalf("epsilon %g, delta %g: by rho %v, total %v, %v", epsilon, delta, price, total, err)
		}
	}
}

// n equal parts of a budget never add up to more than the budget, and leave
// less than the rounding takes.
func TestEqualParts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		epsilon := math.Pow(10, -3+5*r.Float64())
		whole, err := Total{Kind: GDP, Epsilon: epsilon, Delta: 1e-6}.pots()
		if err != nil {
			t.Fatal(err)
		}
		n := 1 + r.IntN(50)
		part, err := GDP.Price(Spend{Rho: whole.Rho.Float() / float64(n)})
		if err != nil {
			t.Fatal(err)
		}
		var sum Pots
		fitted := 0
		for {
			next, ok := sum.add(part)
			if !ok || !next.within(whole) {
				break
			}
			sum = next
			fitted++
		}
		if fitted != n && fitted != n-1 {
			t.Fatalf("epsilon %g: %d parts of %d fit", epsilon, fitted, n)
		}
		if e := GDP.epsilonAt(sum, 1e-6); e > epsilon*(1+1e-12) {
			t.Fatalf("epsilon %g: %d parts are worth %g", epsilon, fitted, e)
		}
	}
}

func TestEpsilonOfAmounts(t *testing.T) {
	for _, k := range []Kind{GDP, ZCDP, Pure, Mixed} {
		delta, pots := 1e-9, Pots{Rho: Amount{0, 1}}
		switch k {
		case Pure:
			delta, pots = 0, Pots{Pure: Amount{0, 1}}
		case Mixed:
			pots.Pure = Amount{0, 3}
		}
		last := 0.0
		for a := pots; ; {
			e := k.epsilonAt(a, delta)
			if math.IsNaN(e) || e < last {
				t.Fatalf("%v: %v is worth %g, less than the %g before", k, a, e, last)
			}
			last = e
			var ok bool
			if a, ok = a.add(a); !ok {
				break
			}
		}
		if k.epsilonAt(Pots{}, delta) != 0 {
			t.Errorf("%v: nothing is worth something", k)
		}
	}
	if e := GDP.epsilonAt(Pots{Rho: Amount{0, 1}}, 1e-100); e == 0 {
		t.Error("a unit at delta 1e-100 is worth nothing")
	}
}

func TestSpendsAndTotalsAreChecked(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		kind  Kind
		spend Spend
		field string
	}{
		"nothing":          {GDP, Spend{}, "PureEpsilon"},
		"no delta":         {GDP, Spend{Epsilon: 1}, "Delta"},
		"no epsilon":       {GDP, Spend{Delta: 1e-5}, "Epsilon"},
		"epsilon NaN":      {GDP, Spend{Epsilon: nan, Delta: 1e-5}, "Epsilon"},
		"epsilon large":    {GDP, Spend{Epsilon: 101, Delta: 1e-5}, "Epsilon"},
		"epsilon tiny":     {GDP, Spend{Epsilon: 1e-7, Delta: 1e-5}, "Epsilon"},
		"epsilon negative": {GDP, Spend{Epsilon: -1, Delta: 1e-5}, "Epsilon"},
		"delta NaN":        {GDP, Spend{Epsilon: 1, Delta: nan}, "Delta"},
		"delta large":      {ZCDP, Spend{Epsilon: 1, Delta: 0.2}, "Delta"},
		"both ways":        {GDP, Spend{Epsilon: 1, Delta: 1e-5, Rho: 1}, "Rho"},
		"rho negative":     {GDP, Spend{Rho: -1}, "Rho"},
		"rho NaN":          {GDP, Spend{Rho: nan}, "Rho"},
		"rho infinite":     {GDP, Spend{Rho: inf}, "Rho"},
		"rho too large":    {ZCDP, Spend{Rho: 2e9}, "Rho"},
		"pure negative":    {GDP, Spend{Rho: 1, PureEpsilon: -1}, "PureEpsilon"},
		"pure NaN":         {Pure, Spend{PureEpsilon: nan}, "PureEpsilon"},
		"pure infinite":    {GDP, Spend{PureEpsilon: inf}, "PureEpsilon"},
	} {
		_, err := c.kind.Price(c.spend)
		var p *ParamError
		if !errors.Is(err, ErrParam) || !errors.As(err, &p) || p.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, s := range []Spend{{Rho: 1}, {Epsilon: 1, Delta: 1e-5}, {Rho: 1, PureEpsilon: 1}} {
		if _, err := Pure.Price(s); !errors.Is(err, ErrLedger) {
			t.Errorf("%+v in a pure ledger: %v", s, err)
		}
	}
	for _, total := range []Total{
		{}, {5, 1, 1e-5, 0}, {GDP, 1, 0, 0}, {ZCDP, 1, 0, 0}, {Pure, 1, 1e-5, 0}, {GDP, 0, 1e-5, 0},
		{GDP, nan, 1e-5, 0}, {GDP, 1, nan, 0}, {Pure, inf, 0, 0}, {GDP, 1, 0.5, 0}, {Pure, 1, nan, 0},
		{GDP, 1, 1e-5, 0.5}, {Pure, 1, 0, 0.5}, {ZCDP, 1, 1e-5, 0.5}, {Mixed, 1, 1e-5, 0}, {Mixed, 1, 1e-5, 1}, {Mixed, 1, 1e-5, nan},
		{Mixed, 1, 1e-5, -0.5}, {Mixed, 1, 1e-5, 0.9999999}, {Mixed, 1, 0, 0.5}, {Mixed, 1e-6, 1e-5, 1e-6}, {Mixed, 1, 1e-5, 2},
	} {
		if _, err := total.pots(); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", total, err)
		}
	}
	// Parts add up, each at its price in that calculus.
	for kind, pure := range map[Kind]float64{GDP: 0.75895559537097932, ZCDP: 0.5} {
		if a, err := kind.Price(Spend{Rho: 2, PureEpsilon: 1}); err != nil || a.Pure != (Amount{}) || !amountsAgree(a.Rho.Float(), 2+pure, 1e-11) {
			t.Errorf("%v: %v, %v", kind, a, err)
		}
	}
	if a, err := Mixed.Price(Spend{Rho: 2, PureEpsilon: 1}); err != nil || a.Rho.Float() != 2 || a.Pure.Float() != 1 {
		t.Errorf("%v, %v", a, err)
	}
}

func TestKindNames(t *testing.T) {
	for kind, name := range map[Kind]string{GDP: "gdp", ZCDP: "zcdp", Pure: "pure", Mixed: "mixed"} {
		if got, err := KindByName(name); got != kind || err != nil || kind.String() != name {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "GDP", "Kind(0)"} {
		if k, err := KindByName(name); k != 0 || !errors.Is(err, ErrParam) {
			t.Errorf("%q: %v, %v", name, k, err)
		}
	}
	if s := Kind(0).String(); s != "Kind(0)" {
		t.Error(s)
	}
}
