package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// An Eta is a bound on |f^(X) - f(X)|_F, how far a computed first step may be
// from the exact one, for every admissible X: it follows from public numbers,
// never from data. The zero value is no statement and is refused by
// Bound.Inflate. It belongs to one query and one Q.
type Eta struct {
	value float64
	of    identity
}

func (e Eta) stated() bool { return e.of.rows > 0 }

// Value returns the bound, in the units of Q.
func (e Eta) Value() float64 { return e.value }

// Plus returns the error of both sources together, or ErrMismatch when they
// belong to different queries.
func (e Eta) Plus(other Eta) (Eta, error) {
	if !e.stated() || !other.stated() || e.of != other.of {
		return Eta{}, named("eta", refuse(ErrMismatch, "the errors are of different queries"))
	}
	e.value += other.value
	return newEta(e.value, e.of)
}

func newEta(value float64, of identity) (Eta, error) {
	if !finite(value) {
		return Eta{}, refuse(ErrUnrepresentable, "the error bound overflows")
	}
	return Eta{value: value * roundUp, of: of}, nil
}

// EntryError returns the error of an approximation whose feature weights w^ are
// symmetric, whose degrees are the sums of its own weights, and which has
//
//	|w^_ij - w_ij| <= entry   for all pairs of all admissible data,
//
// null records included. The entry bound must be an a-priori one, from public
// numbers; what a certificate reports for the data at hand is data. It must be
// below the smallest weight l of the operator, which is Full or Background.
//
//	E = 1/2 entry (N/(n l)) (1 + max(1+entry, alpha U)/(l-entry)) F,
//
// and with alpha < 0 or a table with negative entries 1 + entry + |alpha| U in
// place of the maximum. Proof. With K = (alpha L_Y - L_X) Q and G^ = K^/D^,
//
//	K/D - K^/D^ = (K - K^)/D + G^ (D^-D)/D.
//
// K - K^ is Qc under a Laplacian of N nodes with weights of size at most entry: at
// most N entry F. D >= n l, |D^ - D|/D <= entry/l, D^ >= n (l - entry). |alpha L_Y - L^_X| is
// at most N max(alpha U, 1+entry), a difference of two positive semidefinite
// matrices with these norms, or N times the sum when one is not. QED
//
// Errors: those of Tight that concern the query and Q, and ErrEntryError.
func EntryError(query Query, q blas64.General, entry float64) (Eta, error) {
	e, err := entryError(query, q, entry)
	return e, named("entry error", err)
}

func entryError(query Query, q blas64.General, entry float64) (Eta, error) {
	t, err := query.check()
	if err != nil {
		return Eta{}, err
	}
	lv, err := query.Operator.levels(query.Sigma)
	if err != nil {
		return Eta{}, err
	}
	g, err := newGeometry(q)
	if err != nil {
		return Eta{}, err
	}
	l := math.Exp(-lv.low)
	if !(entry >= 0) || entry >= l {
		return Eta{}, refuse(ErrEntryError, "%g, want one in [0, %g)", entry, l)
	}
	label := math.Abs(query.Alpha) * t.largest()
	norm := max(1+entry, label)
	if query.Alpha < 0 || t.lo < 0 {
		norm = 1 + entry + label
	}
	n := float64(g.rows - 1)
	e := 0.5 * entry * ((n + 1) / (n * l)) * (1 + norm/(l-entry)) * g.frobenius
	return newEta(math.Ldexp(e, g.exponent), g.identity(query))
}

// Arithmetic describes how a first step is computed.
type Arithmetic struct {
	// UnitRoundoff is u0: 0x1p-53 for float64, 0x1p-24 for float32.
	UnitRoundoff float64
	// Dimension is the number of columns of the features.
	Dimension int
}

// RoundingError returns the error of evaluating the step in floating point:
// feature weights by exp of a clamped squared distance, label weights to an
// absolute error of th U, plain sums in any order, and f from (w - alpha u)(q_j -
// q_i)/D or from the expanded form. With gamma_m = m u0/(1 - m u0), th =
// expm1((2/sigma^2) gamma_{dim+4}) + 4 u0,
//
//	eta = (2 th (1+gamma)/(1-th) + gamma) (2 + |alpha| U/l) sqrt(N) max_j |q_j|,   gamma = gamma_{2N+16},
//
// and n/tau in place of 1/l for Floor. Proof. A squared distance of at most 4 is
// off by at most 4 gamma_{dim+4}, so the exponent by (2/sigma^2) gamma_{dim+4}; exp
// itself and the label weights add less than 4 u0: relative error th of a weight.
// The terms of a row of the numerator take at most N+4 roundings, the degree N,
// division, halving and adding q_i two more: the row is off by at most
// (1+th)/(1-th) (1+gamma_{2N+6}) - 1 times the sum of the absolute terms, which
// after halving and with q_i is at most (2 + |alpha| U n/(n l)) max_j |q_j|. There
// are N rows. QED
//
// For Background the comparison of a distance with the radius may fall either
// way; both are weights in the operator's range, and the bound is for the step
// with the choice that was made.
//
// Errors: those of Tight that concern the query and Q, and ErrEntryError where
// the arithmetic cannot carry the sums.
func RoundingError(query Query, q blas64.General, a Arithmetic) (Eta, error) {
	e, err := roundingError(query, q, a)
	return e, named("rounding error", err)
}

func roundingError(query Query, q blas64.General, a Arithmetic) (Eta, error) {
	perLabel, err := labelFactor(query, q.Rows)
	if err != nil {
		return Eta{}, err
	}
	g, err := newGeometry(q)
	if err != nil {
		return Eta{}, err
	}
	if !(a.UnitRoundoff > 0) || a.UnitRoundoff > 0x1p-8 || a.Dimension < 1 {
		return Eta{}, refuse(ErrEntryError, "unit roundoff %g, %d dimensions", a.UnitRoundoff, a.Dimension)
	}
	x, err := halfInverseSquare(query.Sigma)
	if err != nil {
		return Eta{}, err
	}
	gamma := func(m float64) float64 {
		if m*a.UnitRoundoff > 0.5 {
			return math.Inf(1)
		}
		return m * a.UnitRoundoff / (1 - m*a.UnitRoundoff)
	}
	rows := float64(g.rows)
	th := math.Expm1(4*x*gamma(float64(a.Dimension)+4)) + 4*a.UnitRoundoff
	sums := gamma(2*rows + 16)
	if !(th < 0.5) || !(sums < 0.5) {
		return Eta{}, refuse(ErrEntryError, "unit roundoff %g is too coarse for %d rows, %d dimensions and sigma %g", a.UnitRoundoff, g.rows, a.Dimension, query.Sigma)
	}
	largest := 0.0
	for i := range q.Rows {
		largest = max(largest, blas64.Nrm2(blas64.Vector{N: q.Cols, Inc: 1, Data: q.Data[i*q.Stride:]}))
	}
	relative := 2*th*(1+sums)/(1-th) + sums
	return newEta(relative*(2+perLabel)*math.Sqrt(rows)*largest, g.identity(query))
}

// Displacement returns a public bound on every coordinate of f - Q:
//
//	1/2 (1 + |alpha| U/l) max over columns of (largest - smallest entry),
//
// n/tau in place of 1/l for Floor, because f_i - q_i is half a mean of differences
// q_j - q_i with weights w/D, plus alpha times one with weights u/D. It tells how
// large the numbers are that noise is added to; it is no sensitivity. Errors
// are those of Tight that concern the query and Q.
func Displacement(query Query, q blas64.General) (float64, error) {
	perLabel, err := labelFactor(query, q.Rows)
	if err == nil {
		err = checkMatrix("Q", q, 2)
	}
	if err != nil {
		return 0, named("displacement", err)
	}
	widest := 0.0
	for j := range q.Cols {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range q.Rows {
			v := q.Data[i*q.Stride+j]
			lo, hi = min(lo, v), max(hi, v)
		}
		widest = max(widest, hi-lo)
	}
	d := 0.5 * (1 + perLabel) * widest * roundUp
	if !finite(d) {
		return 0, named("displacement", refuse(ErrUnrepresentable, "it overflows"))
	}
	return d, nil
}

// labelFactor returns |alpha| U/l, or |alpha| U n/tau for Floor.
func labelFactor(query Query, rows int) (float64, error) {
	t, err := query.check()
	if err != nil {
		return 0, err
	}
	factor := math.Abs(query.Alpha) * t.largest()
	if f, ok := query.Operator.(Floor); ok {
		return factor * float64(rows-1) / f.Tau, f.check()
	}
	lv, err := query.Operator.levels(query.Sigma)
	return factor * math.Exp(lv.low), err
}
