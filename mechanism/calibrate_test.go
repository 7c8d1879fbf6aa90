package mechanism

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// vectors are 12 digits from 50-digit arithmetic: bisection of the privacy
// curve, the classical formula (0 where it is refused), and rho.
var vectors = []struct {
	epsilon, delta, sensitivity, analytic, classical, rho float64
}{
	{0.01, 1e-12, 1, 578.997867061, 746.380126574, 1.49147533820e-6},
	{0.01, 1e-5, 1, 243.785437676, 484.480526261, 8.41306965608e-6},
	{0.01, 1e-2, 1, 27.7008824556, 310.751146009, 0.000651602580405},
	{0.05, 1e-6, 1, 69.2712170848, 105.976050537, 0.000104199195997},
	{0.1, 1e-12, 1, 61.5390559189, 74.6380126574, 0.000132028699541},
	{0.1, 1e-8, 1, 45.9373601850, 61.0636132165, 0.000236939755034},
	{0.1, 1e-5, 1, 30.7495661320, 48.4480526261, 0.000528800697815},
	{0.1, 1e-2, 1, 9.54182308883, 31.0751146009, 0.00549170606062},
	{0.2, 1e-6, 1, 18.9887998539, 26.4940126343, 0.00138667590863},
	{0.3, 1e-9, 1, 17.4403094854, 21.5748873504, 0.00164384789379},
	{0.5, 1e-12, 1, 12.8441744899, 14.9276025315, 0.00303080231684},
	{0.5, 1e-6, 1, 8.05761848073, 10.5976050537, 0.00770116811359},
	{0.5, 1e-5, 1, 7.03182667558, 9.68961052521, 0.0101119214985},
	{0.9, 1e-10, 1, 6.49264861511, 7.57660376719, 0.0118611338194},
	{0.99, 1e-5, 1, 3.76493451116, 4.89374268950, 0.0352740358314},
	{1, 1e-12, 1, 6.55782206746, 0, 0.0116265468686},
	{1, 1e-6, 1, 4.22467888933, 0, 0.0280144819126},
	{1, 1e-5, 1, 3.73063163482, 0, 0.0359257023274},
	{1, 1e-2, 1, 1.87787556091, 0, 0.141786990466},
	{2, 1e-12, 1, 3.36267250951, 0, 0.0442181794063},
	{2, 1e-5, 1, 1.99381244564, 0, 0.125777048454},
	{3, 1e-9, 1, 1.94372426351, 0, 0.132342913814},
	{4, 1e-6, 1, 1.19351858716, 0, 0.351003648416},
	{5, 1e-5, 1, 0.891868264952, 0, 0.628591613740},
	{8, 1e-12, 1, 0.912251998840, 0, 0.600814433245},
	{8, 1e-5, 1, 0.600229072199, 0, 1.38782897648},
	{10, 1e-6, 1, 0.541086831818, 0, 1.70779632500},
	{10, 1e-2, 1, 0.350096686248, 0, 4.07937851431},
	{15, 1e-10, 1, 0.479056444009, 0, 2.17869597694},
	{20, 1e-12, 1, 0.404050532637, 0, 3.06265894691},
	{20, 1e-5, 1, 0.290041418033, 0, 5.94360534825},
	{20, 1e-2, 1, 0.220727510754, 0, 10.2625922307},
	{0.1, 1e-5, 5.721e-6, 0.000175918267841, 0.000277171309074, 0.000528800697815},
	{0.5, 1e-5, 0.125, 0.878978334448, 1.21120131565, 0.0101119214985},
	{1, 1e-6, 2.5, 10.5616972233, 0, 0.0280144819126},
	{4, 1e-6, 1000, 1193.51858716, 0, 0.351003648416},
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*math.Abs(want) }

// covers reports by the oracle whether a noise multiplier is enough.
func covers(s, epsilon, delta float64) bool {
	return bigCurve(bigOf(s), bigOf(epsilon)).Cmp(bigOf(delta)) <= 0
}

// enough reports by the oracle whether a multiplier is at least the classical
// one, s epsilon >= sqrt(2 ln(1.25/delta)), that is exp((s epsilon)^2/2) delta
// >= 1.25.
func enough(s, epsilon, delta float64) bool {
	x := bigMul(bigOf(s), bigOf(epsilon))
	return bigMul(bigExp(bigMul(bigMul(x, x), bigOf(0.5))), bigOf(delta)).Cmp(bigOf(1.25)) >= 0
}

// T-1: within 1e-11 of the vectors and never below the exact value of the
// oracle; the same for the result of Calibrate.
func TestMultiplier(t *testing.T) {
	for _, v := range vectors {
		c, err := Analytic.Multiplier(v.epsilon, v.delta)
		if err != nil {
			t.Fatal(err)
		}
		if !near(c*v.sensitivity, v.analytic, 1e-11) {
			t.Errorf("(%g, %g): analytic %.15g, want %.12g", v.epsilon, v.delta, c*v.sensitivity, v.analytic)
		}
		if !covers(c, v.epsilon, v.delta) || covers(c*(1-1e-11), v.epsilon, v.delta) {
			t.Errorf("(%g, %g): analytic %.15g is not just above the exact value", v.epsilon, v.delta, c)
		}
		if !near(1/(2*c*c), v.rho, 2e-11) {
			t.Errorf("(%g, %g): rho %.15g, want %.12g", v.epsilon, v.delta, 1/(2*c*c), v.rho)
		}
		c, err = Classical.Multiplier(v.epsilon, v.delta)
		if v.classical == 0 {
			if !errors.Is(err, ErrParam) {
				t.Errorf("(%g, %g): classical gave %g, %v", v.epsilon, v.delta, c, err)
			}
			continue
		}
		if err != nil || !near(c*v.sensitivity, v.classical, 1e-11) {
			t.Errorf("(%g, %g): classical %.15g, %v, want %.12g", v.epsilon, v.delta, c*v.sensitivity, err, v.classical)
		}
		if !enough(c, v.epsilon, v.delta) {
			t.Errorf("(%g, %g): classical %.15g is below the exact value", v.epsilon, v.delta, c)
		}
	}
}

// The epsilon from which the classical rule is too little, as Classical and
// docs/privacy.md state it.
func TestClassicalFailsForLargeEpsilon(t *testing.T) {
	for _, c := range []struct{ delta, from float64 }{{1e-5, 8.4}, {0.1, 5.8}} {
		for epsilon, holds := range map[float64]bool{c.from - 0.1: true, c.from + 0.1: false} {
			if classical := classicalMultiplier(epsilon, c.delta); (classical >= multiplier(epsilon, c.delta)) != holds {
				t.Errorf("(%g, %g): classical %g, needed %g", epsilon, c.delta, classical, multiplier(epsilon, c.delta))
			}
		}
	}
}

func TestCalibrateVectors(t *testing.T) {
	for _, v := range vectors {
		b := boundNear(t, 5, 3, v.sensitivity)
		for rule, want := range map[Rule]float64{Analytic: v.analytic, Classical: v.classical} {
			if want == 0 {
				continue
			}
			c := calibrate(t, CalibrationSettings{Epsilon: v.epsilon, Delta: v.delta, Sensitivity: b, Rule: rule})
			multiplier := c.Sigma() / c.L2Sensitivity()
			if !near(multiplier*v.sensitivity, want, 1e-11) {
				t.Errorf("(%g, %g) %v: %.15g, want %.12g", v.epsilon, v.delta, rule, multiplier*v.sensitivity, want)
				continue // the series of the oracle are for arguments near these
			}
			if !near(c.Sigma(), want/v.sensitivity*b.Value(), 1e-8) {
				t.Errorf("(%g, %g) %v: sigma %.15g for a sensitivity of %g", v.epsilon, v.delta, rule, c.Sigma(), b.Value())
			}
			if rule == Analytic && !near(c.Rho(), v.rho, 2e-11) {
				t.Errorf("(%g, %g): rho %.15g, want %.12g", v.epsilon, v.delta, c.Rho(), v.rho)
			}
			// Sigma/total >= c, without a rounding in between.
			exact, _ := bigQuo(bigOf(c.Sigma()), bigOf(c.L2Sensitivity())).Float64()
			if rule == Analytic && !covers(math.Nextafter(exact, 0), v.epsilon, v.delta) {
				t.Errorf("(%g, %g): calibrated noise is below the exact value", v.epsilon, v.delta)
			}
		}
	}
}

// Further checks: two points of the curve, three multipliers at a large delta.
func TestCurve(t *testing.T) {
	for _, test := range []struct{ s, epsilon, delta float64 }{{10, 0.1, 0.00875176814581}, {0.5, 0, 0.682689492137}} {
		if got := math.Exp(logCurve(test.s, test.epsilon)); !near(got, test.delta, 1e-11) {
			t.Errorf("delta(%g, %g) = %.13g, want %.12g", test.s, test.epsilon, got, test.delta)
		}
	}
	for _, test := range []struct{ epsilon, want float64 }{{1, 1.332778}, {0.5, 2.033211}, {3, 0.656848}} {
		if got, err := Analytic.Multiplier(test.epsilon, 0.05); err != nil || math.Abs(got-test.want) > 5e-7 {
			t.Errorf("c(%g, 0.05) = %g, %v, want %g", test.epsilon, got, err, test.want)
		}
	}
	// All three branches of the evaluation, against the oracle.
	for _, s := range []float64{0.05, 0.3, 1, 3.9, 4.1, 30, 1000} {
		for _, a := range []float64{-3, -0.1, 0, 0.1, 2, 7} {
			epsilon := (a + 0.5/s) / s
			if epsilon < 0 {
				continue
			}
			want := bigCurve(bigOf(s), bigOf(epsilon))
			got := math.Exp(logCurve(s, epsilon))
			if e, _ := bigQuo(bigSub(bigOf(got), want), want).Float64(); math.Abs(e) > 1e-10 {
				t.Errorf("delta(%g, %g) = %g is off by %g", s, epsilon, got, e)
			}
		}
	}
}

// T-2: properties of the noise at every point of a grid.
func TestMultiplierProperties(t *testing.T) {
	epsilons := []float64{1e-6, 1e-4, 0.01, 0.03, 0.1, 0.3, 0.7, 0.999, 1, 1.5, 3, 6, 10, 20, 50, 100}
	deltas := []float64{1e-100, 1e-50, 1e-20, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.1}
	for _, rule := range []Rule{Analytic, Classical} {
		for i, epsilon := range epsilons {
			for j, delta := range deltas {
				c, err := rule.Multiplier(epsilon, delta)
				if rule == Classical && epsilon >= 1 {
					if !errors.Is(err, ErrParam) {
						t.Errorf("classical at %g: %v", epsilon, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if logCurve(c, epsilon) > math.Log(delta) {
					t.Errorf("%v(%g, %g) = %g is too little", rule, epsilon, delta, c)
				}
				if rule == Analytic {
					if logCurve(c*(1-1e-9), epsilon) <= math.Log(delta) {
						t.Errorf("%v(%g, %g) = %g is too much", rule, epsilon, delta, c)
					}
					// Where delta covers nearly all, the last factor of c is many times
					// its size in epsilon; so the way back starts without that factor.
					if back, err := EpsilonAt(1/multiplier(epsilon, delta), delta); err != nil || !near(back, epsilon, 1e-9) {
						t.Errorf("EpsilonAt(1/%g, %g) = %g, %v, want %g", c, delta, back, err, epsilon)
					}
				}
				if i > 0 {
					if before, _ := rule.Multiplier(epsilons[i-1], delta); c >= before {
						t.Errorf("%v does not fall from epsilon %g to %g at %g", rule, epsilons[i-1], epsilon, delta)
					}
				}
				if j > 0 {
					if before, _ := rule.Multiplier(epsilon, deltas[j-1]); c >= before {
						t.Errorf("%v does not fall from delta %g to %g at %g", rule, deltas[j-1], delta, epsilon)
					}
				}
			}
		}
	}
}

// Noise is proportional to the sensitivity, to the last bit for powers of two.
func TestSigmaIsProportional(t *testing.T) {
	p := CalibrationSettings{Epsilon: 0.7, Delta: 1e-6, Sensitivity: boundOf(t, sensitivity.ReplaceOne, 6, 2, 1)}
	one := calibrate(t, p)
	for _, exponent := range []int{-700, -40, -1, 1, 13, 600} {
		factor := math.Ldexp(1, exponent)
		p.Sensitivity = boundOf(t, sensitivity.ReplaceOne, 6, 2, factor)
		if c := calibrate(t, p); !near(c.Sigma(), one.Sigma()*factor, 1e-12) || c.Multiple() != one.Multiple() {
			t.Errorf("2^%d: sigma %g from %g", exponent, c.Sigma(), one.Sigma())
		}
	}
}

// Releases of T steps calibrated alike, composed: mu and epsilon at delta.
func TestComposition(t *testing.T) {
	for _, v := range []struct {
		epsilon, delta   float64
		steps            float64
		at, mu, rho, eps float64
	}{
		{0.1, 1e-6, 1, 1e-6, 0.02754465024383, 0.000379353878527, 0.1},
		{0.1, 1e-6, 10, 1e-5, 0.08710383212321, 0.003793538785274, 0.293104201887},
		{0.1, 1e-6, 100, 1e-5, 0.2754465024383, 0.03793538785274, 1.030345303027},
		{0.1, 1e-6, 1000, 1e-5, 0.8710383212321, 0.3793538785274, 3.733271450668},
		{0.5, 1e-8, 20, 1e-6, 0.4534009866458, 0.1027862273457, 2.024753653527},
		{1, 1e-6, 2, 1e-5, 0.3347505454074, 0.05602896382526, 1.277050844006},
		{1, 1e-6, 10, 1e-5, 0.748524975036, 0.2801448191263, 3.13976000334},
		{1, 1e-6, 100, 1e-5, 2.367043806634, 2.801448191263, 12.32783085034},
	} {
		c, err := Analytic.Multiplier(v.epsilon, v.delta)
		if err != nil {
			t.Fatal(err)
		}
		mu := math.Sqrt(v.steps) / c
		if !near(mu, v.mu, 1e-11) || !near(mu*mu/2, v.rho, 1e-11) {
			t.Errorf("(%g, %g) x %g: mu %.14g, rho %.14g", v.epsilon, v.delta, v.steps, mu, mu*mu/2)
		}
		epsilon, err := EpsilonAt(mu, v.at)
		if err != nil || !near(epsilon, v.eps, 1e-11) {
			t.Errorf("(%g, %g) x %g: epsilon %.14g, %v, want %.13g", v.epsilon, v.delta, v.steps, epsilon, err, v.eps)
		}
		// Rounded up, by the oracle.
		if bigCurve(bigQuo(bigOf(1), bigOf(mu)), bigOf(epsilon)).Cmp(bigOf(v.at)) > 0 {
			t.Errorf("(%g, %g) x %g: epsilon %.14g is below the exact value", v.epsilon, v.delta, v.steps, epsilon)
		}
	}
	for _, test := range []struct{ mu, delta, want float64 }{{0, 1e-5, 0}, {1e-6, 1e-5, 0}} {
		if got, err := EpsilonAt(test.mu, test.delta); got != test.want || err != nil {
			t.Errorf("EpsilonAt(%g, %g) = %g, %v", test.mu, test.delta, got, err)
		}
	}
	for _, test := range [][2]float64{{-1, 1e-5}, {math.NaN(), 1e-5}, {2e6, 1e-5}, {1, 0}, {1, 0.2}, {1, math.NaN()}} {
		if got, err := EpsilonAt(test[0], test[1]); !errors.Is(err, ErrParam) {
			t.Errorf("EpsilonAt(%g, %g) = %g, %v", test[0], test[1], got, err)
		}
	}
}

// Delta_tot is Delta + 2E + g sqrt(m), not below it in exact arithmetic and
// above it by rounding only; the grid and the multiple are in range.
func TestTotalSensitivity(t *testing.T) {
	for _, rows := range []int{2, 5, 40, 300} {
		for _, scale := range []float64{1, 1e-8, 12345} {
			b := boundOf(t, sensitivity.ReplaceOne, rows, 3, scale)
			for _, epsilon := range []float64{0.01, 1, 30} {
				c := calibrate(t, CalibrationSettings{Epsilon: epsilon, Delta: 1e-6, Sensitivity: b})
				root := new(big.Float).SetPrec(oracleBits).Sqrt(bigOf(float64(rows * 3)))
				grid := bigMul(bigOf(c.Step()), root)
				want := bigAdd(bigAdd(bigOf(b.Exact()), bigMul(bigOf(2), bigOf(b.Eta()))), grid)
				if b.Eta() <= 0 {
					t.Fatal("the bound has no operator error to leave out")
				}
				if got := bigOf(c.L2Sensitivity()); got.Cmp(want) < 0 || got.Cmp(bigAdd(bigOf(b.Value()), grid)) < 0 {
					t.Errorf("rows %d scale %g epsilon %g: total %g is below %g", rows, scale, epsilon, got, want)
				}
				if excess, _ := bigQuo(bigSub(bigOf(c.L2Sensitivity()), want), want).Float64(); excess > 0x1p-50 {
					t.Errorf("rows %d scale %g epsilon %g: total is above by %g", rows, scale, epsilon, excess)
				}
				if got := bigOf(c.GridError()); got.Cmp(grid) < 0 {
					t.Errorf("grid error %g is below %g", got, grid)
				}
				if f, _ := math.Frexp(c.Step()); f != 0.5 {
					t.Errorf("step %g is no power of two", c.Step())
				}
				if s := c.Multiple(); s < 1<<40 || s >= 1<<42 {
					t.Errorf("multiple %d is out of range", s)
				}
				if c.Sigma() != float64(c.Multiple())*c.Step() {
					t.Errorf("sigma %g is not on the grid", c.Sigma())
				}
				multiplier, err := Analytic.Multiplier(epsilon, 1e-6)
				if err != nil {
					t.Fatal(err)
				}
				least := bigMul(bigOf(multiplier), bigOf(c.L2Sensitivity()))
				if excess := bigSub(bigOf(c.Sigma()), least); excess.Sign() < 0 || excess.Cmp(bigOf(c.Step())) > 0 || bigOf(deviation(multiplier, c.L2Sensitivity())).Cmp(least) < 0 {
					t.Errorf("sigma %g is not the grid point above %g", c.Sigma(), least)
				}
				exact, mu := bigQuo(bigOf(c.L2Sensitivity()), bigOf(c.Sigma())), bigOf(c.Mu())
				if mu.Cmp(exact) < 0 || bigOf(c.Rho()).Cmp(bigMul(bigMul(mu, mu), bigOf(0.5))) < 0 {
					t.Errorf("mu %g or rho %g is not rounded up", c.Mu(), c.Rho())
				}
				if !near(c.Mu()*c.Sigma()/c.L2Sensitivity(), 1, 1e-14) || !near(c.Rho(), c.Mu()*c.Mu()/2, 1e-15) {
					t.Errorf("mu %g and rho %g contradict the multiplier", c.Mu(), c.Rho())
				}
			}
		}
	}
}

func TestCalibrateRefuses(t *testing.T) {
	good := CalibrationSettings{Epsilon: 1, Delta: 1e-5, Sensitivity: boundOf(t, sensitivity.ReplaceOne, 6, 2, 1), Reach: 1}
	if _, err := Calibrate(good); err != nil {
		t.Fatal(err)
	}
	q := matrix(6, 2, 1)
	exact, err := testQuery.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	eta, err := testQuery.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 8})
	if err != nil {
		t.Fatal(err)
	}
	inflate := func(b sensitivity.Bound, err error) sensitivity.Bound {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if b, err = b.Inflate(eta); err != nil {
			t.Fatal(err)
		}
		return b
	}
	norms, err := sensitivity.Measure(q)
	if err != nil {
		t.Fatal(err)
	}
	scalar := inflate(testQuery.Scalar(sensitivity.ReplaceOne, norms))
	some := inflate(testQuery.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{Released: []int{0, 1}}))
	all := inflate(testQuery.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{Released: []int{5, 4, 3, 2, 1, 0}}))
	p := good
	p.Sensitivity = all
	if _, err := Calibrate(p); err != nil {
		t.Errorf("all rows listed: %v", err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name  string
		field string // of the ParamError, "" for errSensitivity
		set   func(*CalibrationSettings)
	}{
		{"epsilon 0", "Epsilon", func(p *CalibrationSettings) { p.Epsilon = 0 }},
		{"epsilon negative", "Epsilon", func(p *CalibrationSettings) { p.Epsilon = -1 }},
		{"epsilon tiny", "Epsilon", func(p *CalibrationSettings) { p.Epsilon = 0.9e-6 }},
		{"epsilon huge", "Epsilon", func(p *CalibrationSettings) { p.Epsilon = 101 }},
		{"epsilon NaN", "Epsilon", func(p *CalibrationSettings) { p.Epsilon = nan }},
		{"epsilon Inf", "Epsilon", func(p *CalibrationSettings) { p.Epsilon = inf }},
		{"delta 0", "Delta", func(p *CalibrationSettings) { p.Delta = 0 }},
		{"delta tiny", "Delta", func(p *CalibrationSettings) { p.Delta = 1e-101 }},
		{"delta large", "Delta", func(p *CalibrationSettings) { p.Delta = 0.11 }},
		{"delta NaN", "Delta", func(p *CalibrationSettings) { p.Delta = nan }},
		{"unknown rule", "Rule", func(p *CalibrationSettings) { p.Rule = 2 }},
		{"classical at 1", "Epsilon", func(p *CalibrationSettings) { p.Rule = Classical }},
		{"reach 0", "Reach", func(p *CalibrationSettings) { p.Reach = 0 }},
		{"reach negative", "Reach", func(p *CalibrationSettings) { p.Reach = -1 }},
		{"reach NaN", "Reach", func(p *CalibrationSettings) { p.Reach = nan }},
		{"reach Inf", "Reach", func(p *CalibrationSettings) { p.Reach = inf }},
		{"reach beyond the clamp", "Reach", func(p *CalibrationSettings) { p.Reach = 0x1p51*calibrate(t, good).Step() + 1 }},
		{"step too small", "Sensitivity", func(p *CalibrationSettings) { p.Sensitivity = boundOf(t, sensitivity.ReplaceOne, 6, 2, 0x1p-870) }},
		{"step too large", "Sensitivity", func(p *CalibrationSettings) { p.Sensitivity = boundOf(t, sensitivity.ReplaceOne, 6, 2, 0x1p950) }},
		{"grid too costly", "Sensitivity", func(p *CalibrationSettings) {
			p.Epsilon, p.Delta, p.Sensitivity = 1e-6, 1e-100, boundOf(t, sensitivity.ReplaceOne, 100, 100, 1)
		}},
		{"no bound", "", func(p *CalibrationSettings) { p.Sensitivity = sensitivity.Bound{} }},
		{"exact arithmetic", "", func(p *CalibrationSettings) { p.Sensitivity = exact }},
		{"from norms", "", func(p *CalibrationSettings) { p.Sensitivity = scalar }},
		{"some rows", "", func(p *CalibrationSettings) { p.Sensitivity = some }},
	} {
		p := good
		test.set(&p)
		c, err := Calibrate(p)
		if c.Multiple() != 0 {
			t.Errorf("%s: a calibration came with the error", test.name)
		}
		if test.field == "" {
			if !errors.Is(err, errSensitivity) || !errors.Is(err, ErrParam) {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		var e *ParamError
		if !errors.As(err, &e) || !errors.Is(err, ErrParam) || e.Field != test.field {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	// The largest reach is allowed.
	p = good
	p.Reach = 0x1p51 * calibrate(t, good).Step()
	if _, err := Calibrate(p); err != nil {
		t.Errorf("reach at the clamp: %v", err)
	}
}

func TestSpend(t *testing.T) {
	b := boundOf(t, sensitivity.ReplaceOne, 6, 2, 1)
	p := CalibrationSettings{Epsilon: 0.5, Delta: 1e-5, Sensitivity: b}
	if got, want := calibrate(t, p).Spend(0), said(Spend{Epsilon: 0.5, Delta: 1e-5}); got != want {
		t.Errorf("analytic: %+v", got)
	}
	if got, want := calibrate(t, p).Spend(2), said(Spend{Epsilon: 0.5, Delta: 1e-5, PureEpsilon: 2}); got != want {
		t.Errorf("with labels: %+v", got)
	}
	p.Rule = Classical
	c := calibrate(t, p)
	if got, want := c.Spend(0), said(Spend{Rho: c.Rho()}); got != want {
		t.Errorf("classical: %+v", got)
	}
	if c.Rule() != Classical {
		t.Errorf("rule %v", c.Rule())
	}
	// Three records that change together pay for three labels.
	q := blas64.General{Rows: 6, Cols: 2, Stride: 2, Data: matrix(6, 2, 1).Data}
	one, err := testQuery.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	group, err := one.Group(3)
	if err != nil {
		t.Fatal(err)
	}
	eta, err := testQuery.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 8})
	if err != nil {
		t.Fatal(err)
	}
	if group, err = group.Inflate(eta); err != nil {
		t.Fatal(err)
	}
	p.Sensitivity = group
	if got := calibrate(t, p).Spend(1.5).PureEpsilon; got != 4.5 {
		t.Errorf("labels of a group cost %g", got)
	}
}

func TestRuleNames(t *testing.T) {
	for rule, name := range map[Rule]string{Analytic: terms.RuleAnalytic, Classical: terms.RuleClassical} {
		if got, err := RuleByName(name); got != rule || err != nil || rule.String() != name {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "Classical", "Rule(2)"} {
		if r, err := RuleByName(name); r != 0 || !errors.Is(err, ErrParam) {
			t.Errorf("%q: %v, %v", name, r, err)
		}
	}
}

// 3 x 0.7 is more than the nearest float64.
func TestLabelEpsilon(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		records int
	}{{0.7, 3}, {0.1, 3}, {1.5, 3}, {0.3, 1}, {0.3, 0}, {0, 5}, {20, 7}, {1e-6, 1000}} {
		got := LabelEpsilon(c.epsilon, c.records)
		exact := bigMul(bigOf(c.epsilon), bigOf(float64(max(1, c.records))))
		if bigOf(got).Cmp(exact) < 0 || got > 0 && bigOf(math.Nextafter(got, 0)).Cmp(exact) >= 0 {
			t.Errorf("%+v: %.17g", c, got)
		}
	}
}
