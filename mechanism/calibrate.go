package mechanism

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A Rule chooses the noise for an (Epsilon, Delta).
type Rule int

// The rules.
const (
	// Analytic is the least noise that suffices (Balle and Wang 2018), for
	// every Epsilon.
	Analytic Rule = iota
	// Classical is sqrt(2 ln(1.25/Delta))/Epsilon times the sensitivity (Dwork
	// and Roth 2014), proved for Epsilon < 1 only and refused elsewhere: from
	// Epsilon = 8.42 on it is too little at Delta = 1e-5, from 5.75 on at 0.1.
	Classical
)

// String returns the name of the rule as a release spells it.
func (r Rule) String() string {
	switch r {
	case Analytic:
		return terms.RuleAnalytic
	case Classical:
		return terms.RuleClassical
	}
	return fmt.Sprintf("Rule(%d)", int(r))
}

// RuleByName returns the rule with the given name.
func RuleByName(name string) (Rule, error) {
	for r := Analytic; r <= Classical; r++ {
		if r.String() == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("mechanism: %w: no rule %q, want analytic or classical", ErrParam, name)
}

// Multiplier returns the standard deviation of the noise for a sensitivity of
// one, rounded up: at most 2^-39 above the exact value and never below it. The
// error is a *ParamError when epsilon is not in [1e-6, 100], or for Classical
// not below 1, or delta not in [1e-100, 0.1].
func (r Rule) Multiplier(epsilon, delta float64) (float64, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	switch r {
	case Analytic:
		return multiplier(epsilon, delta) * upwards, nil
	case Classical:
		if !classicalHolds(epsilon) {
			return 0, &ParamError{Field: "Epsilon", Value: epsilon, Allowed: "below 1 for the classical rule; the analytic rule has no such limit"}
		}
		return classicalMultiplier(epsilon, delta) * upwards, nil
	}
	return 0, &ParamError{Field: "Rule", Value: float64(r), Allowed: "Analytic or Classical"}
}

// The range in which the multiplier is exact to its last digits.
const (
	minEpsilon, maxEpsilon = 1e-6, 100
	minDelta, maxDelta     = 1e-100, 0.1
	maxMu                  = 1e6
	// upwards covers the rounding errors of a multiplier, 6.6e-14 at most.
	upwards = 1 + 0x1p-40
)

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= minEpsilon && epsilon <= maxEpsilon) {
		return &ParamError{Field: "Epsilon", Value: epsilon, Allowed: "1e-6 to 100"}
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta >= minDelta && delta <= maxDelta) {
		return &ParamError{Field: "Delta", Value: delta, Allowed: "1e-100 to 0.1"}
	}
	return nil
}

func checkMu(mu float64) error {
	if !(mu >= 0 && mu <= maxMu) {
		return &ParamError{Field: "Mu", Value: mu, Allowed: "0 to 1e6"}
	}
	return nil
}

// EpsilonAt returns the least epsilon at which a mu-Gaussian-private release,
// or several with the root of the sum of their squares for mu, is (epsilon,
// delta)-private, rounded up. The error is a *ParamError when mu is not in [0,
// 1e6] or delta not in [1e-100, 0.1].
func EpsilonAt(mu, delta float64) (float64, error) {
	if err := checkMu(mu); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	return epsilonAt(mu, delta), nil
}

// CalibrationSettings state the privacy of a release. Only the rule has a default, and
// none of them may depend on private data.
type CalibrationSettings struct {
	// Epsilon is in [1e-6, 100], Delta in [1e-100, 0.1].
	Epsilon, Delta float64
	// Sensitivity is a bound made from the Q of the release, for all of its
	// rows, with its operator error stated.
	Sensitivity sensitivity.Bound
	// Reach is a bound on the absolute value of every coordinate of the matrix
	// to be released, for all data, such as sensitivity.Query.Displacement gives.
	Reach float64
	// Rule is Analytic by default.
	Rule Rule
}

// A Calibration describes the noise for one matrix and its privacy. Calibrate
// makes it from public numbers only. It is immutable, and Privatize refuses its
// zero value.
type Calibration struct {
	settings  CalibrationSettings
	step      float64
	multiple  int64
	total     float64
	gridError float64
}

// Calibrate returns the noise that makes a release of a matrix with the given
// sensitivity (Epsilon, Delta)-private. It is a pure function: it reads no data
// and draws nothing.
//
// With c the multiplier of the rule, the grid step is the power of two g =
// 2^(floor(log2(c (Delta + 2E))) - 40) and the standard deviation the multiple
// of it next above c (Delta + 2E + g sqrt(m)): Delta + 2E is the bound with its
// operator error, m the number of coordinates, g sqrt(m) the effect of rounding
// to the grid.
//
// Errors are a *ParamError for numbers out of range, for a matrix so large that
// the grid would cost more than a thousandth of the noise and for a Reach
// beyond 2^51 g, where coordinates would be clamped; and ErrParam for a
// bound that has no stated operator error, was made from norms or covers only
// some of the rows.
func Calibrate(p CalibrationSettings) (Calibration, error) {
	if err := checkBound(p.Sensitivity); err != nil {
		return Calibration{}, err
	}
	multiplier, err := noiseMultiplier(p)
	if err != nil {
		return Calibration{}, err
	}
	if !(p.Reach > 0 && p.Reach <= math.MaxFloat64) {
		return Calibration{}, &ParamError{Field: "Reach", Value: p.Reach, Allowed: "a positive finite number"}
	}
	base := p.Sensitivity.Value()
	_, exponent := math.Frexp(multiplier * base)
	exponent -= 41 // floor(log2) is one less than the exponent of Frexp
	if !(multiplier*base <= math.MaxFloat64) || exponent < -900 || exponent > 900 {
		return Calibration{}, &ParamError{Field: "Sensitivity", Value: base, Allowed: "a grid step from 2^-900 to 2^900"}
	}
	c := Calibration{settings: p, step: math.Ldexp(1, exponent)}
	c.total, c.gridError = totalSensitivity(p.Sensitivity, c.step)
	if c.gridError > base*maxGridShare {
		return Calibration{}, &ParamError{Field: "Sensitivity", Value: coordinates(p.Sensitivity), Allowed: "fewer coordinates at this Epsilon and Delta: the grid would cost more than 0.001 of the noise"}
	}
	c.multiple = int64(math.Ceil(deviation(multiplier, c.total) / c.step))
	if p.Reach > noise.ClampSteps*c.step {
		return Calibration{}, &ParamError{Field: "Reach", Value: p.Reach, Allowed: fmt.Sprintf("at most %g, 2^51 grid steps: the noise is too small for a matrix this large", noise.ClampSteps*c.step)}
	}
	return c, nil
}

// maxGridShare is the largest share of the sensitivity that the grid may add.
const maxGridShare = 1e-3

func checkBound(b sensitivity.Bound) error {
	rows, columns := b.Size()
	switch released := b.Rows().Released; {
	case !b.Valid():
		return fmt.Errorf("mechanism: there is no bound: %w", errSensitivity)
	case !b.ErrorStated():
		return fmt.Errorf("mechanism: the bound is for exact arithmetic: state the operator error with Inflate: %w", errSensitivity)
	case columns == 0:
		return fmt.Errorf("mechanism: the bound was made from norms: make it from Q: %w", errSensitivity)
	case released != nil && len(released) != rows:
		return fmt.Errorf("mechanism: the bound is for %d of %d rows, and all are released: %w", len(released), rows, errSensitivity)
	}
	return nil
}

// coordinates returns m, the number of entries of the matrix of a bound.
func coordinates(b sensitivity.Bound) float64 {
	rows, columns := b.Size()
	return float64(rows) * float64(columns)
}

// up returns the next float64 above x, which is at least the exact value when x
// is the rounded result of one operation.
func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// Epsilon returns the requested epsilon.
func (c Calibration) Epsilon() float64 { return c.settings.Epsilon }

// Delta returns the requested delta.
func (c Calibration) Delta() float64 { return c.settings.Delta }

// Rule is the rule that chose Sigma.
func (c Calibration) Rule() Rule { return c.settings.Rule }

// Bound is the sensitivity bound that the noise was calibrated to.
func (c Calibration) Bound() sensitivity.Bound { return c.settings.Sensitivity }

// Sigma is the standard deviation of the noise of one entry, Multiple * Step
// exactly.
func (c Calibration) Sigma() float64 { return float64(c.multiple) * c.step }

// Step is the distance of two grid points, a power of two.
func (c Calibration) Step() float64 { return c.step }

// Multiple is Sigma in grid steps, from 2^40 up to 2^42.
func (c Calibration) Multiple() int64 { return c.multiple }

// L2Sensitivity is the sensitivity of the matrix that noise is added to, the
// computed one rounded to the grid: the bound's value plus GridError, rounded
// up.
func (c Calibration) L2Sensitivity() float64 { return c.total }

// GridError bounds what rounding to the grid can add to the distance of two
// neighbours: Step times the root of the number of coordinates, rounded up.
func (c Calibration) GridError() float64 { return c.gridError }

// Mu is L2Sensitivity/Sigma, rounded up: the noise makes a release
// Mu-Gaussian-private under either rule. Randomised labels cost extra.
func (c Calibration) Mu() float64 { return up(c.total / c.Sigma()) }

// Rho is Mu^2/2, rounded up: the noise makes a release Rho-zCDP, and (a, a Rho)-Renyi
// private for every order a > 1.
func (c Calibration) Rho() float64 {
	mu := c.Mu()
	return up(mu*mu) / 2
}

// LabelEpsilon is the cost of randomised labels when that many records change
// together: records times epsilon, rounded up.
func LabelEpsilon(epsilon float64, records int) float64 {
	n := float64(max(1, records))
	product := n * epsilon
	if math.FMA(n, epsilon, -product) > 0 { // it was rounded down
		product = up(product)
	}
	return product
}

// Spend is the cost of one release, with labels randomised at labelEpsilon, 0 for none.
// The analytic rule is charged its (Epsilon, Delta); the classical one, which adds more
// noise than these need, its Rho. All records that may change together under the bound
// pay for their labels. The spend protects the pairs that the bound is for.
func (c Calibration) Spend(labelEpsilon float64) Spend {
	s := Spend{
		PureEpsilon: LabelEpsilon(labelEpsilon, c.settings.Sensitivity.Records()),
		Protects:    protectionOf(c.settings.Sensitivity),
	}
	if c.settings.Rule == Classical {
		s.Rho = c.Rho()
	} else {
		s.Epsilon, s.Delta = c.settings.Epsilon, c.settings.Delta
	}
	return s
}
