package sensitivity

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
)

// The names of the proofs, which Bound.Derivation returns. Releases carry them, so they do not
// change.
const (
	byTheorem1       = "theorem-1"        // Tight, full kernel
	byTheorem1Scalar = "theorem-1-scalar" // Scalar, full kernel
	byTheorem1s      = "theorem-1s"       // Tight, class sizes that count the private row
	byTheorem2       = "theorem-2"        // Known
	byFloor          = "degree-floor"     // Tight with Floor (V1)
	byBackground     = "background"       // Tight with Background (V2)
	byCorrected      = "corrected"        // Corrected
)

// The conditions of a bound that no number in it can ensure.
const (
	// Required by every bound.
	publicParameters = "Q, the bandwidth, alpha, the table, the number of rows and the operator were chosen without looking at a private record"
	// Required where one record is the null record.
	unitOrNullRows = "every row is of unit norm, rescaled in float64, except one null record, whose weights are a constant by definition"
	// Enough where no null record is used.
	unitBall = "every row lies in the closed unit ball, squared distances clamped to [0, 4]"
	// For tables over classes.
	labelsInRange = "every label is one of the table's classes"
	// For all tables but ClassSize.
	fixedTable = "the label table is fixed and public"
	// For the relations that keep the label.
	publicLabel = "the label of the private row is public and unchanged"
	// For Theorem 2.
	publicRest = "the position of the private row, and the number, features and labels of all other rows, are public and do not depend on the private record"
	// For bounds over some rows only.
	publicRows = "the list of rows that may be private, and of those released, is public"
	// For Floor and Background.
	pairwiseWeights = "each feature weight is a symmetric function of its two rows alone, in the operator's range"
)

// A Bound is a proved upper bound on the L2 (Frobenius) sensitivity of the
// query for one Q: f changes by no more between neighbouring data sets. Only
// the functions of this package make one, and the paper's constant
// is never one. The zero value is no bound: Valid is false.
//
// Until Inflate is called the bound is for exact arithmetic, and ErrorStated is
// false. Bounds are immutable and safe for concurrent use.
type Bound struct {
	delta       float64 // of the exact operator, rounded up
	eta         Eta
	relation    Relation
	query       Query
	derivation  string
	assumptions []string
	of          identity
	row         int // the private row the bound is largest for, -1 when there is no single one
	rows        Rows
	group       int // records that change together, 0 before Group
}

// identity shows whether a bound and an error belong to the same query and Q.
// Two tables of the same name and range are the same here: errors depend on
// nothing else in them.
type identity struct {
	query         string
	table         span
	rows, columns int
	digest        [sha256.Size]byte // of Q
	// Of the centred Q.
	frobenius, spectral, radius float64
}

// matches reports whether an error of o may be added to a bound of i. A bound
// made from norms holds for every Q with norms at most these.
func (i identity) matches(o identity) bool {
	if i.columns != 0 {
		return i == o
	}
	const slack = 1 + 1e-12
	return i.query == o.query && i.table == o.table && i.rows == o.rows &&
		o.frobenius <= i.frobenius*slack && o.spectral <= i.spectral*slack && o.radius <= i.radius*slack
}

// Valid reports whether b was made by this package; the zero Bound was not.
func (b Bound) Valid() bool { return b.delta > 0 && b.relation.valid() }

// Value returns the sensitivity to calibrate noise with: Exact, or Exact + 2
// eta once Inflate has stated operator errors. It is rounded up.
func (b Bound) Value() float64 {
	if b.eta.value == 0 {
		return b.delta
	}
	return math.Nextafter(b.delta+2*b.eta.value, math.Inf(1))
}

// Exact returns the bound for the exact operator in real arithmetic. Its last
// step is a factor 1 + 1e-9, far above the rounding errors of its evaluation.
func (b Bound) Exact() float64 { return b.delta }

// Eta returns the bound on the error of the computed f given to Inflate, or 0.
func (b Bound) Eta() float64 { return b.eta.value }

// ErrorStated reports whether Inflate was called: a bound for exact arithmetic
// must not be used with computed numbers.
func (b Bound) ErrorStated() bool { return b.eta.stated() }

// Relation returns the neighbouring relation of the bound.
func (b Bound) Relation() Relation { return b.relation }

// Operator returns the operator of the bound. No other operator may be used
// with it, except an approximation within the error given to Inflate.
func (b Bound) Operator() Operator { return b.query.Operator }

// Query returns the public numbers of the bound.
func (b Bound) Query() Query { return b.query }

// Derivation returns the name of the proof, which releases carry: "theorem-1", or
// "theorem-1s" for ClassSize, from Tight with the full kernel, "background" and
// "degree-floor" from Tight with Background and Floor, "theorem-1-scalar" from Scalar,
// "theorem-2" from Known and "corrected" from Corrected.
func (b Bound) Derivation() string { return b.derivation }

// Assumptions returns the conditions of the bound that no number in it can ensure, each a
// sentence, in a slice that the caller may change.
func (b Bound) Assumptions() []string { return slices.Clone(b.assumptions) }

// Size returns the rows and columns of the Q the bound is for; columns are 0
// when the bound was made from norms.
func (b Bound) Size() (rows, columns int) { return b.of.rows, b.of.columns }

// Rows returns the rows that may be private and those released, nil meaning
// all, in slices that the caller may change.
func (b Bound) Rows() Rows { return b.rows.clone() }

// Records returns how many records may change together: 1 unless Group was
// called.
func (b Bound) Records() int { return max(1, b.group) }

// String returns the bound with its relation and proof.
func (b Bound) String() string {
	if !b.Valid() {
		return "no bound"
	}
	return fmt.Sprintf("%.6g (%v, %v, %s)", b.Value(), b.relation, b.query.Operator, b.derivation)
}

// Inflate returns the bound for a computed f that differs from the exact one by
// at most eta in Frobenius norm, whatever the data: Exact + 2 eta.
//
// Theorem 3. If |f^(X) - f(X)| <= eta for every admissible X, then |f^(X) -
// f^(X~)| <= |f(X) - f(X~)| + 2 eta for all neighbours, by the triangle
// inequality. If f^ uses public randomness and its bound fails with probability
// at most d' for each X, noise calibrated to the sum gives (epsilon, delta +
// 2d'). An error measured on the data at hand is not admissible: it is data.
//
// It returns ErrQuery when eta is missing, belongs to another query or Q, or
// an error was stated before; add errors with Eta.Plus.
func (b Bound) Inflate(eta Eta) (Bound, error) {
	const op = "inflate"
	switch {
	case !b.Valid():
		return Bound{}, named(op, refuse(errMismatch, "there is no bound"))
	case !eta.stated():
		return Bound{}, named(op, refuse(errMismatch, "there is no error; a zero error has to be derived, too"))
	case b.eta.stated():
		return Bound{}, named(op, refuse(errMismatch, "an error has already been stated"))
	case !b.of.matches(eta.of):
		return Bound{}, named(op, refuse(errMismatch, "the error is for %d x %d, %s", eta.of.rows, eta.of.columns, eta.of.query))
	}
	b.eta = eta
	if !finite(b.Value()) {
		return Bound{}, named(op, refuse(errUnrepresentable, "the inflated bound overflows"))
	}
	return b, nil
}

// Group returns the bound for several records that change together: records
// times the bound for one, by a chain of single changes. Under Null and
// FeaturesNull the chain would pass through data with several null records,
// which their proofs exclude; under Theorem 2 only one row is private. Both are
// refused with ErrNoBound. Operator errors are stated afterwards.
func (b Bound) Group(records int) (Bound, error) {
	const op = "group"
	switch {
	case !b.Valid() || b.eta.stated() || b.group != 0:
		return Bound{}, named(op, refuse(errGroup, "want a bound of one record without an operator error"))
	case records < 1:
		return Bound{}, named(op, refuse(errGroup, "%d records, want at least 1", records))
	case b.relation.usesNull():
		return Bound{}, named(op, refuse(errGroup, "not for %v; use the bound of %v or %v", b.relation, ReplaceOne, FeaturesReplace))
	case b.derivation == byTheorem2:
		return Bound{}, named(op, refuse(errGroup, "not for one known row; use Tight"))
	}
	b.group = records
	if b.delta *= float64(records); math.IsInf(b.delta, 0) {
		return Bound{}, named(op, refuse(errUnrepresentable, "the bound overflows"))
	}
	return b, nil
}

// roundUp is the last step of every bound.
const roundUp = 1 + 1e-9

// newBound makes a bound out of Delta in units of 2^exponent.
func newBound(delta float64, exponent int, b Bound) (Bound, error) {
	if delta == 0 {
		return Bound{}, refuse(errDegenerate, "the bound is zero")
	}
	b.delta = math.Ldexp(delta*roundUp, exponent)
	// Below the first number what delta is made of has lost digits.
	if !(delta >= 0x1p-960) || !(b.delta >= 0x1p-1022) || math.IsInf(b.delta, 0) {
		return Bound{}, refuse(errUnrepresentable, "it overflows or underflows")
	}
	b.assumptions = assumptionsOf(b)
	return b, nil
}

func assumptionsOf(b Bound) []string {
	a := []string{publicParameters}
	if b.relation.usesNull() || b.derivation == byTheorem2 {
		a = append(a, unitOrNullRows)
	} else {
		a = append(a, unitBall)
	}
	if _, ok := b.query.Table.(ClassSize); !ok {
		a = append(a, fixedTable, labelsInRange)
	}
	if !b.relation.LabelPrivate() {
		a = append(a, publicLabel)
	}
	if b.derivation == byTheorem2 {
		a = append(a, publicRest)
	} else if b.rows.Private != nil || b.rows.Released != nil {
		a = append(a, publicRows)
	}
	switch b.query.Operator.(type) {
	case Floor, Background:
		a = append(a, pairwiseWeights)
	}
	return a
}
