package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// An Eta is a bound on |f^(X) - f(X)|_F, the error of a computed first step,
// for every admissible X: it follows from public numbers, never from data. The
// zero value states nothing, and Bound.Inflate refuses it. It belongs to one
// query and one Q.
type Eta struct {
	value float64
	of    identity
}

func (e Eta) stated() bool { return e.of.rows > 0 }

// Value returns the bound, in the units of Q.
func (e Eta) Value() float64 { return e.value }

// Plus returns the error of both sources together. It returns ErrQuery when they
// belong to different queries, and ErrNoBound when the sum overflows.
func (e Eta) Plus(other Eta) (Eta, error) {
	if !e.stated() || !other.stated() || e.of != other.of {
		return Eta{}, named("eta", refuse(errMismatch, "the errors belong to different queries"))
	}
	sum, err := newEta(e.value+other.value, e.of)
	return sum, named("eta", err)
}

func newEta(value float64, of identity) (Eta, error) {
	if value *= roundUp; !finite(value) {
		return Eta{}, refuse(errUnrepresentable, "the error bound overflows")
	}
	return Eta{value: value, of: of}, nil
}

// EntryError returns the error of an approximation whose feature weights w^ are
// symmetric, whose degrees are the sums of its own weights, and which has
//
//	|w^_ij - w_ij| <= entry   for all pairs of all admissible data,
//
// null records included. The entry bound must be an a-priori one, from public
// numbers; a number that a certificate reports for the data at hand is data. It
// must be below 0.999 of the smallest weight l of the operator, Full or
// Background.
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
// Errors: those of Tight that concern the query and Q, and ErrQuery for an entry out of its
// range.
func (query Query) EntryError(q blas64.General, entry float64) (Eta, error) {
	e, err := entryError(query, of(q), entry)
	return e, named("entry error", err)
}

func entryError(query Query, m measurement, entry float64) (Eta, error) {
	t, err := query.check()
	if err != nil {
		return Eta{}, err
	}
	lv, err := query.Operator.levels(query.Sigma)
	if err != nil {
		return Eta{}, err
	}
	start, err := m.start()
	if err != nil {
		return Eta{}, err
	}
	g := start.g
	l := math.Exp(-lv.low)
	if !(entry >= 0) || entry > 0.999*l { // nearer to l the difference below loses its digits
		return Eta{}, refuse(errEntryError, "%g, want one in [0, 0.999 l], l = %g", entry, l)
	}
	label := math.Abs(query.Alpha) * t.largest()
	norm := max(1+entry, label)
	if query.Alpha < 0 || t.lo < 0 {
		norm = 1 + entry + label
	}
	n := float64(g.rows - 1)
	e := 0.5 * entry * ((n + 1) / (n * l)) * (1 + norm/(l-entry)) * g.frobenius
	return newEta(math.Ldexp(e, g.exponent), g.identity(query, t))
}

// Arithmetic describes how a first step is computed.
type Arithmetic struct {
	// UnitRoundoff is u0: 0x1p-53 for float64, 0x1p-24 for float32.
	UnitRoundoff float64
	// Dimension is the number of columns of the features.
	Dimension int
	// Relative is a further error of sums over weights that are made of moments, not
	// of computed weights: a degree is off by this much more of itself, a product (W
	// q)_i by up to twice as much of D_i max_j |q_j|. Default 0. Floor does not allow
	// it.
	Relative float64
}

// RoundingError returns the error of evaluating the step in floating point, and
// of subtracting Q from it afterwards. With M = max_j |q_j|, x = 1/(2 sigma^2), dim
// the dimension of the features and gamma_m = m u0/(1 - m u0),
//
//	eta = (1 + |alpha| U/l) (4 th + 32 gamma_{N+16}) sqrt(N) M,
//	th  = expm1(4 x (dim+8) (3+sqrt(dim))^2 u0) + 8 u0 + Relative,
//
// and n/tau in place of 1/l for Floor. In float64 it is about 1e-9 of Delta at a
// thousand rows and grows like N^(3/2); actual errors are far smaller.
//
// # What is covered
//
// Rows are divided by their computed norm, in this arithmetic. Squared distances come from
// differences, or from |a|^2 + |b|^2 - 2 a.b of the rows, unchanged or less the middle of
// their bounding box, clamped to [0, 4] or not. Weights are exp(-x d^2), raised to the
// computed exp(-4 x) where they are below it or not; those of the null record are a
// constant or made like all others. The exponential, by a library or by a
// polynomial, is off by at most 4 u0 of itself. Products with W are sums over all rows, or
// for Background
//
//	om (sum_j q_j - q_i) + sum (w - om) q_j,   D = om (N-1) + sum (w - om)
//
// over the pairs within the radius, where that is decided by a symmetric function
// of the two rows alone (and for a null record by the radius). The label term is
// made of class sums S_c, class sizes n_c, a computed mean m and the table K over
// up to N classes, its diagonal included:
//
//	l_i = (K n)_c (q_i - m) - (K (S - n m))_c
//	f_i = q_i - 1/2 (q_i - (W q)_i/D_i) + alpha/(2 D_i) l_i,
//
// with K kept as a constant plus the rest; or of the differences q_i - q_j. Sums
// are in any order, multiplications and additions fused or not.
//
// # Proof
//
// The exact f belongs to the rows divided by their exact norms. A computed row is off by
// at most (2 dim + 8) u0, so two of them change a squared distance by at
// most (18 dim + 72) u0. The middle z of the bounding box of unit rows has |z_c| <=
// 1/2 in a coordinate with both signs, and otherwise at most half of 1 plus the
// smallest size in it; so |z| <= (1 + sqrt(dim))/2, and rows less z are no longer than
// (3 + sqrt(dim))/2. The product form is off by (2 dim + 16) u0 times the sum of two of
// their squares, that is (dim+8) (3+sqrt(dim))^2 u0; differences are off by 5 (dim+2) u0.
// Together with the rounding of x and of x d^2, this is below 4 (dim+8) (3+sqrt(dim))^2
// u0, since (3+sqrt(dim))^2 >= 16. With the error of exp, a weight is off by th
// relatively, at most. The exact weight w is at least exp(-4 x). A computed weight that is
// raised to the computed exp(-4 x) comes nearer to w where exp(-4 x) as computed is at
// most w, and else is above w by no more than the computed exp(-4 x) is above the exact
// one, less than th w. A label weight is off by 8 u0 U, because t exp(-t) < 1.
//
// Write g for gamma_{N+16}, which is at least 18 u0; it and th are at most 1/128.
// A sum over rows is off by g times the sum of its absolute terms. In the form for
// Background these are at most 6 D and 6 D M, as om n <= D and N+1 <= 3n. So D_i and (W
// q)_i are off by at most e D and e D M with e = th + 6.1 g, a maximum with tau by no
// more, and their quotient by 2 e M/(1-e). Half of this, and for Floor the error 2
// e/(1-e) of D_i/max(D_i, tau) times half of |q_i - (W q)_i/D_i| <= 2 M, add up to at
// most 3 e M/(1-e).
//
// The label term does not depend on m, so the error of m does not count;
// |m| <= 1.01 M. The sizes of the two parts of an entry of K add up to at most 2 U,
// for equality over class sizes too, whose U is 1/2 although a class of one row has
// the entry 1. So (K n)_c is off by (2 g + 8 u0) U N, times |q_i - m| <= 2.02 M; the
// class sums together by (g + 4 u0) N M, centring included, times 2 U; their sum
// over classes, of size 2.02 N M, by (2 g + 8 u0) U of that; the last product and difference by
// 7 u0 U N M and q_i - m by 3 u0 U N M. In total l_i is off by less than (10.2 g + 56 u0) U N M
// <= 14 g U N M. Its size is at most 2 U n M. With |alpha|/(2 D_i) <=
// |alpha|/(2 n l), N <= 2n and the error e/(1-e) + 3 u0 of alpha/(2 D_i), the label part is off
// by (|alpha| U/l) (e/(1-e) + 15.1 g) M.
//
// The remaining additions, f - Q among them, round numbers of size at most 2 (1 + |alpha| U/l) M,
// in total by 0.6 g (1 + |alpha| U/l) M or less. As 1/(1-e) < 1.06, the
// factor of M is at most 3.2 th + 20.2 g for the features, and 1.1 th + 22.3 g for the
// labels times |alpha| U/l. There are N rows. QED
//
// Sums by moments have the error Relative, a degree once and (W q)_i twice. It adds to th:
// a weight that is off by th relatively changes D_i and (W q)_i by no more than th D_i and th D_i
// M, and the proof uses nothing else. The second time is covered because Floor is refused: the
// quotient is off by at most 3 e M/(1-e), and the half that enters the step is within the 3 e
// M/(1-e) above, which includes Floor. Where the weights are approximations, as in EntryError,
// within a sixteenth of l, D_i >= 15/16 n l, and the rounding up of the factors covers that: 3.2
// 16/15 < 4, 22.3 16/15 < 32.
//
// Numbers that over- or underflow on the way are not covered: RoundingError returns
// ErrNoBound for 2/sigma^2 > 640, where package kernel may take a degree for zero, and for
// magnitudes of Q, alpha and the table whose products leave the range of float64.
//
// Other errors: those of Tight that concern the query and Q, and ErrQuery where the
// arithmetic cannot carry the sums.
func (query Query) RoundingError(q blas64.General, a Arithmetic) (Eta, error) {
	e, err := roundingError(query, of(q), a)
	return e, named("rounding error", err)
}

func roundingError(query Query, m measurement, a Arithmetic) (Eta, error) {
	t, err := query.check()
	if err != nil {
		return Eta{}, err
	}
	lowest, err := lowestDegree(query, m.rows)
	if err != nil {
		return Eta{}, err
	}
	start, err := m.start()
	if err != nil {
		return Eta{}, err
	}
	g := start.g
	if !(a.UnitRoundoff > 0) || a.UnitRoundoff > 0x1p-8 || a.Dimension < 1 || !(a.Relative >= 0) {
		return Eta{}, refuse(errEntryError, "unit roundoff %g, %d dimensions, relative error %g", a.UnitRoundoff, a.Dimension, a.Relative)
	}
	if _, floor := query.Operator.(Floor); floor && a.Relative > 0 {
		return Eta{}, refuse(errEntryError, "sums by moments, of relative error %g, cannot be used with Floor", a.Relative)
	}
	x, err := halfInverseSquare(query.Sigma)
	if err != nil {
		return Eta{}, err
	}
	rows, dim := float64(g.rows), float64(a.Dimension)
	long := 3 + math.Sqrt(dim)
	th := math.Expm1(4*x*(dim+8)*long*long*a.UnitRoundoff) + 8*a.UnitRoundoff + a.Relative
	steps := (rows + 16) * a.UnitRoundoff
	sums := steps / (1 - steps)
	if !(th <= 0x1p-7) || !(steps < 0.5) || !(sums <= 0x1p-7) {
		return Eta{}, refuse(errEntryError, "unit roundoff %g is too coarse for %d rows, %d dimensions and sigma %g", a.UnitRoundoff, g.rows, a.Dimension, query.Sigma)
	}
	largest, alpha, u := start.largest, math.Abs(query.Alpha), t.largest()
	perLabel := alpha * u / lowest
	// The rest of the range of float64 is for sums and rounding.
	const near0, far = 0x1p-960, 0x1p960
	if 4*x > 640 || lowest*largest < near0 || u != 0 && u*largest < near0 ||
		alpha/lowest > far || rows*max(1, u)*max(1, largest) > far || (1+perLabel)*largest > far {
		return Eta{}, refuse(errUnrepresentable, "at sigma %g, alpha %g and this scale of Q computed numbers over- or underflow", query.Sigma, query.Alpha)
	}
	return newEta((1+perLabel)*(4*th+32*sums)*math.Sqrt(rows)*largest, g.identity(query, t))
}

// Displacement returns a public bound on every coordinate of f - Q:
//
//	1/2 (1 + |alpha| U/l) max over columns of (largest - smallest entry),
//
// n/tau in place of 1/l for Floor, because f_i - q_i is half a mean of differences
// q_j - q_i with weights w/D, plus alpha times one with weights u/D. It shows how
// large the numbers are that noise is added to; it is not a sensitivity. Errors
// are those of Tight that concern the query and Q.
func (query Query) Displacement(q blas64.General) (float64, error) {
	d, err := displacement(query, q.Rows, func() (float64, error) {
		err := checkMatrix("Q", q, 2)
		if err != nil {
			return 0, err
		}
		return widestColumn(q), nil
	})
	return d, named("displacement", err)
}

// displacement is Displacement with the number of rows and a function that finds the
// widest column.
func displacement(query Query, rows int, widest func() (float64, error)) (float64, error) {
	t, err := query.check()
	if err != nil {
		return 0, err
	}
	lowest, err := lowestDegree(query, rows)
	if err != nil {
		return 0, err
	}
	w, err := widest()
	if err != nil {
		return 0, err
	}
	d := 0.5 * (1 + math.Abs(query.Alpha)*t.largest()/lowest) * w * roundUp
	if !finite(d) {
		return 0, refuse(errUnrepresentable, "the displacement overflows")
	}
	return d, nil
}

// lowestDegree returns the smallest possible degree divided by n: l, or tau/n
// for Floor.
func lowestDegree(query Query, rows int) (float64, error) {
	if f, ok := query.Operator.(Floor); ok {
		return f.Tau / float64(max(1, rows-1)), f.check()
	}
	lv, err := query.Operator.levels(query.Sigma)
	return math.Exp(-lv.low), err
}
