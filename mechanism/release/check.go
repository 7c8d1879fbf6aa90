package release

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
)

// The ranges that calibration accepts.
const (
	minEpsilon, maxEpsilon = 1e-6, 100
	minDelta, maxDelta     = 1e-100, 0.1
	minMultiple            = 1 << 40
	maxMultiple            = 1<<42 - 1
	minStep, maxStep       = 0x1p-900, 0x1p900
)

// gridLimit is the largest size of a grid number: float64 holds every integer up to it. Noise is
// clamped to it (noise.GridLimit).
const gridLimit int64 = 1 << 53

// maxEntries bounds Rows * Columns; it allows a grid of 8 TiB.
const maxEntries = 1 << 40

// slack bounds how far a number that was rounded up may lie above the exact
// one, relatively: far more than rounding needs, far less than the error of a
// wrong number.
const slack = 0x1p-20

// The names package sensitivity gives its relations, and its derivations with
// the kind of operator each is proved for. Its derivation for class sizes that
// count the private row is missing: no label table of a release uses them.
var (
	relations   = []string{"replace-one", "null", "features-replace", "features-null"}
	derivations = map[string]string{
		"theorem-1":        "full",
		"theorem-1-scalar": "full",
		"theorem-2":        "full",
		"corrected":        "full",
		"degree-floor":     "floor",
		"background":       "background",
	}
	tables = []string{"gaussian", "equal", "different"}
)

// Check checks every field. It returns nil when the release is valid, or an
// *Error, an ErrRelease, that names the first invalid field. Seed and Ledger may
// have any value.
func (r *Release) Check() error {
	for _, part := range []func() error{
		r.checkHead, r.checkNoise, r.checkPrivacy, r.checkSensitivity, r.checkWorth,
		r.checkQuery, r.checkLabels, r.checkGrid,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Release) checkHead() error {
	switch {
	case r.ID == [16]byte{}:
		return refuse("id", "is missing")
	case r.Mechanism != terms.RoundedGaussian:
		return &Error{Field: "mechanism", Detail: "want " + terms.RoundedGaussian, Err: errVersion}
	}
	if _, err := entries(r.Rows, r.Columns); err != nil {
		return err
	}
	return oneOf("unit", r.Unit, UnitRecord, UnitClient)
}

// entries returns rows * columns, or an error for an invalid shape.
func entries(rows, columns int) (int, error) {
	switch {
	case rows < 1:
		return 0, refuse("rows", "%d, want at least 1", rows)
	case columns < 1:
		return 0, refuse("columns", "%d, want at least 1", columns)
	}
	high, count := bits.Mul64(uint64(rows), uint64(columns))
	if high != 0 || count > min(maxEntries, math.MaxInt/8) {
		return 0, refuse("columns", "%d x %d numbers are too many", rows, columns)
	}
	return int(count), nil
}

func (r *Release) checkNoise() error {
	fraction, _ := math.Frexp(r.Step)
	switch {
	case !(r.Step >= minStep && r.Step <= maxStep) || fraction != 0.5:
		return refuse("step", "%g, want a power of two from 2^-900 to 2^900", r.Step)
	case r.Multiple < minMultiple || r.Multiple > maxMultiple:
		return refuse("multiple", "%d, want 2^40 to 2^42 - 1", r.Multiple)
	case r.Privacy.Sigma != float64(r.Multiple)*r.Step: // exact
		return refuse("privacy.sigma", "%g is not multiple * step", r.Privacy.Sigma)
	}
	return nil
}

func (r *Release) checkPrivacy() error {
	p := &r.Privacy
	switch {
	case !(p.Epsilon >= minEpsilon && p.Epsilon <= maxEpsilon):
		return refuse("privacy.epsilon", "%g, want %g to %g", p.Epsilon, minEpsilon, float64(maxEpsilon))
	case !(p.Delta >= minDelta && p.Delta <= maxDelta):
		return refuse("privacy.delta", "%g, want %g to %g", p.Delta, minDelta, maxDelta)
	case p.Rule == terms.RuleClassical && p.Epsilon >= 1:
		return refuse("privacy.rule", "the classical rule does not hold at epsilon = %g, only below 1", p.Epsilon)
	}
	return oneOf("privacy.rule", p.Rule, terms.RuleAnalytic, terms.RuleClassical)
}

func (r *Release) checkSensitivity() error {
	s := &r.Sensitivity
	for _, part := range []struct {
		field string
		value float64
	}{
		{"sensitivity.total", s.Total},
		{"sensitivity.bound", s.Bound},
		{"sensitivity.operator_error", s.OperatorError},
		{"sensitivity.grid_error", s.GridError},
	} {
		if err := positive(part.field, part.value); err != nil {
			return err
		}
	}
	if err := oneOf("sensitivity.norm", s.Norm, terms.NormFrobenius); err != nil {
		return err
	}
	if err := oneOf("sensitivity.relation", s.Relation, relations...); err != nil {
		return err
	}
	operator, known := derivations[s.Derivation]
	switch {
	case !known:
		return refuse("sensitivity.derivation", "is unknown")
	case s.Operator != operator:
		return refuse("sensitivity.operator", "want %s, which derivation %s is for", operator, s.Derivation)
	case s.Private < 0 || s.Private > r.Rows || s.Private != len(s.PrivateRows):
		return refuse("sensitivity.private", "%d private rows, %d listed, of %d", s.Private, len(s.PrivateRows), r.Rows)
	case s.Derivation == "theorem-2" && s.Private != 1:
		return refuse("sensitivity.private", "%d rows, want 1 for derivation theorem-2", s.Private)
	case s.Records < 1 || s.Records > r.Rows:
		return refuse("sensitivity.records", "%d, want 1 to the number of rows", s.Records)
	case s.Records > 1 && (s.Derivation == "theorem-2" || strings.HasSuffix(s.Relation, "null")):
		return refuse("sensitivity.records", "%d: %s proves no bound for several records under %s", s.Records, s.Derivation, s.Relation)
	}
	for i, row := range s.PrivateRows {
		if row < 0 || int(row) >= r.Rows || i > 0 && row <= s.PrivateRows[i-1] {
			return refuse("sensitivity.private_rows", "want row numbers below %d, ascending", r.Rows)
		}
	}
	return nil
}

// checkWorth compares the sensitivity with its parts and the privacy of the
// noise with both. Its numbers are already known to be finite and positive,
// except Mu and Rho.
func (r *Release) checkWorth() error {
	s, p := &r.Sensitivity, &r.Privacy
	for _, number := range []struct {
		field string
		value float64
	}{{"privacy.mu", p.Mu}, {"privacy.rho", p.Rho}} {
		if err := positive(number.field, number.value); err != nil {
			return err
		}
	}
	grid := times(times(exact(r.Step), exact(r.Step)), exact(float64(r.Rows)*float64(r.Columns)))
	if times(exact(s.GridError), exact(s.GridError)).Cmp(grid) < 0 {
		return refuse("sensitivity.grid_error", "%g, want at least step * sqrt(rows * columns)", s.GridError)
	}
	parts := plus(plus(exact(s.Bound), times(exact(2), exact(s.OperatorError))), exact(s.GridError))
	if !roundedUp(exact(s.Total), parts) {
		return refuse("sensitivity.total", "%g is not bound + 2 operator_error + grid_error, rounded up", s.Total)
	}
	if !roundedUp(times(exact(p.Mu), exact(p.Sigma)), exact(s.Total)) {
		return refuse("privacy.mu", "%g is not total / sigma, rounded up", p.Mu)
	}
	if !roundedUp(times(exact(2), exact(p.Rho)), times(exact(p.Mu), exact(p.Mu))) {
		return refuse("privacy.rho", "%g is not mu^2 / 2, rounded up", p.Rho)
	}
	if !(curve(p.Mu, p.Epsilon) <= p.Delta*(1+curveSlack)) {
		return refuse("privacy.epsilon", "%g at delta %g is less than mu = %g gives", p.Epsilon, p.Delta, p.Mu)
	}
	return nil
}

// curve is the delta at which Gaussian noise of mu is (epsilon, delta)-private
// (Balle and Wang 2018). Its two terms agree in up to nine digits in the ranges
// above; it detects wrong claims, and calibrates nothing.
func curve(mu, epsilon float64) float64 {
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return tail(epsilon/mu-mu/2) - math.Exp(epsilon)*tail(epsilon/mu+mu/2)
}

// curveSlack is far above the rounding errors of curve.
const curveSlack = 1e-3

func (r *Release) checkQuery() error {
	q := &r.Query
	if err := positive("query.sigma", q.Sigma); err != nil {
		return err
	}
	if err := positive("query.sigma_q", q.SigmaQ); err != nil {
		return err
	}
	if r.Sensitivity.Operator == "background" {
		if !(q.Radius > 0 && q.Radius <= 2) {
			return refuse("query.radius", "%g, want a number above 0, at most 2", q.Radius)
		}
		if !(q.Background > 0 && q.Background <= 1) {
			return refuse("query.background", "%g, want a number above 0, at most 1", q.Background)
		}
	} else if q.Radius != 0 || q.Background != 0 {
		return refuse("query.radius", "%g and %g, want 0 for the operator %s", q.Radius, q.Background, r.Sensitivity.Operator)
	}
	switch {
	case !finite(q.Alpha):
		return refuse("query.alpha", "is not finite")
	case q.Classes < 1 || q.Classes > math.MaxInt32:
		return refuse("query.classes", "%d, want 1 to 2^31 - 1", q.Classes)
	}
	return oneOf("query.table", q.Table, tables...)
}

func (r *Release) checkLabels() error {
	l := &r.Labels
	if err := oneOf("labels.mode", l.Mode, ModePublic, ModeDropped, ModeRandomised); err != nil {
		return err
	}
	if l.Mode != ModeRandomised {
		switch {
		case l.Epsilon != 0:
			return refuse("labels.epsilon", "%g, want 0 in mode %s", l.Epsilon, l.Mode)
		case len(l.Values) > 0:
			return refuse("labels.values", "%d labels, want none in mode %s", len(l.Values), l.Mode)
		}
		return nil
	}
	if !(l.Epsilon >= minEpsilon && l.Epsilon <= maxEpsilon) {
		return refuse("labels.epsilon", "%g, want %g to %g", l.Epsilon, minEpsilon, float64(maxEpsilon))
	}
	if len(l.Values) != r.Rows {
		return refuse("labels.values", "%d labels for %d rows", len(l.Values), r.Rows)
	}
	if i := outside(l.Values, r.Query.Classes); i >= 0 {
		return refuse("labels.values", "row %d: label %d, want 0 to classes - 1", i+1, l.Values[i])
	}
	return nil
}

func (r *Release) checkGrid() error {
	if len(r.Grid) != r.Rows*r.Columns {
		return refuse("grid", "%d numbers for %d x %d", len(r.Grid), r.Rows, r.Columns)
	}
	for i, v := range r.Grid {
		if v > gridLimit || v < -gridLimit {
			return refuse("grid", "row %d: a number is larger than 2^53", i/r.Columns+1)
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func positive(field string, x float64) error {
	if !(x > 0) || !finite(x) {
		return refuse(field, "%g, want a positive finite number", x)
	}
	return nil
}

func oneOf(field, value string, names ...string) error {
	if !slices.Contains(names, value) {
		return refuse(field, "want %s", strings.Join(names, " or "))
	}
	return nil
}

// exact returns x with enough precision for every sum and product of this file: the sum
// of a few float64 ranges from 2^-1074 to 2^1026, and the factor 1 + slack adds 20
// bits; products of three float64 have at most 159 bits.
func exact(x float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(x) }

func plus(x, y *big.Float) *big.Float  { return new(big.Float).Add(x, y) }
func times(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }

// roundedUp reports whether x is want or a little above it, never below.
func roundedUp(x, want *big.Float) bool {
	return x.Cmp(want) >= 0 && x.Cmp(times(want, exact(1+slack))) <= 0
}
