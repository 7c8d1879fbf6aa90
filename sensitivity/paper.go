package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// The paper's lemma and its repair.
//
// M is D^{-1}(alpha L_Y - L_X) of X minus the same of X~, for Null, so that f(X) - f(X~) =
// 1/2 M Q. The paper bounds m_ii^2 by Mii, m_ij^2 by Mij and calls M = n Mij + Mii a bound
// on the norm of a row, with A = n l + rho - 1, B = (n+1) l - 1, C = n + rho - 1 and nu the
// smallest label weight:
//
//	Mii = alpha^2 [ (n/A)^2 + (n/B)^2 - 2 ((n+1)nu - 1)^2/(n C) ]
//	Mij = (alpha^2+1)(1/A^2 + 1/B^2) - 2 alpha nu l (1/C^2 + 1/n^2) - 2 (alpha^2 nu^2 + l^2)/(n C) + 4 alpha/(A B)
//	Delta = 1/2 M sqrt(n+1) |Q|_F
//
// Three things are wrong with it. M bounds the square of the norm of a row, so the argument
// gives sqrt(M (n+1)), and the printed Delta only when M >= 1. Where (n+1) nu < 1 the lower
// end of a label degree is negative, and subtracting its square is not a bound. Where A or
// B is not positive, the square hides the sign. The first two make Comparison.Proved false;
// the last is ErrQuery.
//
// # Corrected
//
// Repair the ends: D_i >= a = (n-1) l + rho on the side with the null record,
// where D_s = n rho, and D_i >= b = n l on the other; D_i <= C and n; label degrees in
// [n nu, n]. Then with e = n nu
//
//	Mcorr = alpha^2 [ (n/a)^2 + (n/b)^2 - 2 e^2/(n C) ] + n Mij(a, b)
//	Delta = 1/2 sqrt(Mcorr (n+1)) |Qc|_2.
//
// Proof. The diagonal of D^{-1} L_X is 1 in both, so m_ii = alpha (E_i/D_i - E~_i/D~_i) and, for
// j != i, m_ij = (w - alpha u)/D - (w~ - alpha u~)/D~. Expand the squares and bound each
// product by the ends of its factors, all of which are non-negative for alpha >=
// 0: squares from above, the mixed products -2 E E~/(D D~), -2 w w~/(D D~), -2 alpha^2 u u~/(D D~)
// and -2 alpha (w u/D^2 + w~ u~/D~^2) by their smallest, +2 alpha (w u~ + w~ u)/(D D~) by its
// largest size. All N rows satisfy this, so |M|_F^2 <= N Mcorr, and M 1 = 0 allows Qc in place of
// Q: |M Q|_F <= |M|_F |Qc|_2. QED
//
// Both are evaluated as sums of positive terms, because at a wide bandwidth the terms
// above nearly cancel. 1/a^2 + 1/b^2 is (1/b-1/a)^2 + 2/(a b), and the terms subtracted
// from 2/(a b) have the form
//
//	1/(a b) - t/(x y) = [ (x y - a b) + a b (1-t) ]/(a b x y),   x, y each n or C,
//	x y - a b = x (y-a) + a (x-b),
//
// where y-a, x-b and 1-t are sums of multiples of 1-l, 1-rho, rho-l and 1-nu.

// A Comparison is the paper's constant for a query, shown next to the bounds.
// It is not a Bound, and nothing turns it into one.
type Comparison struct {
	// MII, MIJ and M are the constants of the lemma.
	MII, MIJ, M float64
	// Delta is the printed sensitivity, 1/2 M sqrt(N) |Q|_F, not rounded.
	Delta float64
	// RootMissing: M < 1. The square root that the printed formula leaves out
	// then makes Delta smaller than the number the argument gives.
	RootMissing bool
	// NegativeDegree: (n+1) nu < 1, so that the square of a negative lower end is
	// subtracted.
	NegativeDegree bool
}

// Proved reports whether the paper's argument implies its number here, for
// Null. This is never a reason to calibrate with that number: Corrected and
// Tight are proved everywhere, and Tight is smaller by a factor of order N.
func (c Comparison) Proved() bool { return !c.RootMissing && !c.NegativeDegree }

// A CorrectedBound is the paper's bound with its errors repaired: the Bound with
// the spectral norm of the centred Q, the constant, and the number the
// Frobenius norm of Q itself would give, as the paper writes it.
type CorrectedBound struct {
	Bound
	// M is the corrected constant, not rounded.
	M float64
	// Frobenius is 1/2 sqrt(M N) |Q|_F, not rounded.
	Frobenius float64
}

// Paper returns the paper's constant for the query and the start Q; its N rows
// include the private one. It covers the full kernel, alpha >= 0 and tables in
// [0, 1] (the paper's table is Gaussian); nu is the smallest entry. It is for
// comparison only. ErrQuery also reports a denominator that is not
// positive; the other errors are those of Corrected.
func (query Query) Paper(q blas64.General) (Comparison, error) {
	c, err := paper(query, q)
	return c, named("paper", err)
}

func paper(query Query, q blas64.General) (Comparison, error) {
	in, err := newLemma(query, q.Rows)
	if err != nil {
		return Comparison{}, err
	}
	if err := checkMatrix("Q", q, 2); err != nil {
		return Comparison{}, err
	}
	c, err := in.paper()
	if err != nil {
		return Comparison{}, err
	}
	c.Delta = 0.5 * c.M * math.Sqrt(in.n+1) * frobeniusNorm(q)
	return c, nil
}

// Corrected returns the repaired bound of the paper. It is proved for Null only,
// the full kernel, alpha >= 0 and tables in [0, 1]; anything else is refused
// with ErrRelation or ErrNoBound. It is valid for calibration, and larger
// than Tight by a factor of order n.
func (query Query) Corrected(relation Relation, q blas64.General) (CorrectedBound, error) {
	b, err := corrected(relation, query, q)
	return b, named("corrected", err)
}

func corrected(relation Relation, query Query, q blas64.General) (CorrectedBound, error) {
	if err := relation.check(); err != nil {
		return CorrectedBound{}, err
	}
	if relation != Null {
		return CorrectedBound{}, refuse(ErrRelation, "proved for %v, not for %v", Null, relation)
	}
	in, err := newLemma(query, q.Rows)
	if err != nil {
		return CorrectedBound{}, err
	}
	g, err := newGeometry(q)
	if err != nil {
		return CorrectedBound{}, err
	}
	m := in.corrected()
	root := 0.5 * math.Sqrt(m*(in.n+1))
	b, err := newBound(root*g.spectral, g.exponent, Bound{
		relation: relation, query: query, derivation: byCorrected, of: g.identity(query, in.table), row: -1,
	})
	if err != nil {
		return CorrectedBound{}, err
	}
	return CorrectedBound{Bound: b, M: m, Frobenius: root * frobeniusNorm(q)}, nil
}

// frobeniusNorm returns |Q|_F of a matrix that has been checked.
func frobeniusNorm(q blas64.General) float64 {
	norms := make([]float64, q.Rows)
	for i := range norms {
		norms[i] = blas64.Nrm2(blas64.Vector{N: q.Cols, Inc: 1, Data: q.Data[i*q.Stride:]})
	}
	return blas64.Nrm2(blas64.Vector{N: q.Rows, Inc: 1, Data: norms})
}

// lemma holds the numbers both constants are made of.
type lemma struct {
	table        span
	n, alpha     float64
	nu, oneNu    float64 // nu and 1 - nu
	l, oneL, rho float64 // l, 1 - l, rho
	oneRho       float64 // 1 - rho
	rhoL         float64 // rho - l
}

func newLemma(query Query, rows int) (lemma, error) {
	t, err := query.check()
	if err != nil {
		return lemma{}, err
	}
	if rows < 2 {
		return lemma{}, refuse(ErrShape, "%d rows, want the private row and at least one more", rows)
	}
	if _, ok := query.Operator.(Full); !ok {
		return lemma{}, refuse(ErrNoBound, "the paper's argument does not cover a %v", query.Operator)
	}
	if query.Alpha < 0 {
		return lemma{}, refuse(ErrNoBound, "the paper's argument does not cover alpha < 0")
	}
	if t.classSize || t.lo < 0 || t.hi > 1 {
		return lemma{}, refuse(ErrNoBound, "the paper's argument does not cover a table outside [0, 1]")
	}
	lv, err := query.Operator.levels(query.Sigma)
	if err != nil {
		return lemma{}, err
	}
	return lemma{
		table: t, n: float64(rows - 1), alpha: query.Alpha,
		nu: t.lo, oneNu: t.spread + (1 - t.hi),
		l: math.Exp(-lv.low), oneL: -math.Expm1(-lv.low),
		rho: math.Exp(-lv.null), oneRho: -math.Expm1(-lv.null),
		rhoL: -math.Exp(-lv.null) * math.Expm1(-(lv.low - lv.null)),
	}, nil
}

// paper returns the constants as printed.
func (in lemma) paper() (Comparison, error) {
	d := denominators{
		a: in.n*in.l - in.oneRho, b: in.n*in.l - in.oneL,
		cLessA: in.n * in.oneL, nLessA: in.n*in.oneL + in.oneRho,
		cLessB: in.n*in.oneL + in.rhoL, nLessB: (in.n + 1) * in.oneL,
	}
	if !(d.a > 0) || !(d.b > 0) {
		return Comparison{}, refuse(errPaperUndefined, "a denominator is not positive for %g rows at this bandwidth", in.n+1)
	}
	var c Comparison
	c.MII = in.diagonal(d, (in.n+1)*in.oneNu, in.n-1+(in.n+1)*in.nu)
	c.MIJ = in.offDiagonal(d)
	c.M = in.n*c.MIJ + c.MII
	c.RootMissing = c.M < 1
	c.NegativeDegree = (in.n+1)*in.nu < 1
	return c, nil
}

// corrected returns Mcorr.
func (in lemma) corrected() float64 {
	d := denominators{
		a: (in.n-1)*in.l + in.rho, b: in.n * in.l,
		cLessA: (in.n - 1) * in.oneL, nLessA: (in.n-1)*in.oneL + in.oneRho,
		cLessB: (in.n-1)*in.oneL + in.rhoL, nLessB: in.n * in.oneL,
	}
	return in.diagonal(d, in.n*in.oneNu, in.n*(1+in.nu)) + in.n*in.offDiagonal(d)
}

// denominators are the lower ends a and b of the degrees of X and X~ and their
// distances from the upper ends C = n - 1 + rho and n.
type denominators struct{ a, b, cLessA, nLessA, cLessB, nLessB float64 }

// diagonal returns alpha^2 [ (n/a)^2 + (n/b)^2 - 2 e^2/(n C) ] given n-e and n+e.
func (in lemma) diagonal(d denominators, nLessE, nPlusE float64) float64 {
	c, ab := in.n-in.oneRho, d.a*d.b
	apart := in.n * in.rhoL / ab // n/b - n/a
	mixed := (in.n*in.n*d.overlap(in.n, d.nLessB, d.cLessA) + ab*nLessE*nPlusE) / (ab * in.n * c)
	return in.alpha * in.alpha * (apart*apart + 2*mixed)
}

// offDiagonal returns Mij(a, b).
func (in lemma) offDiagonal(d denominators) float64 {
	c, ab, alpha := in.n-in.oneRho, d.a*d.b, in.alpha
	apart := in.rhoL / ab // 1/b - 1/a
	nc := d.overlap(in.n, d.nLessB, d.cLessA)
	// 1/(a b) - t/(n C) for t = l^2 and nu^2; 1/(a b) - nu l/C^2; 1/(a b) - nu l/n^2.
	weights := (nc + ab*in.oneL*(1+in.l)) / (ab * in.n * c)
	labels := (nc + ab*in.oneNu*(1+in.nu)) / (ab * in.n * c)
	oneNuL := in.oneNu + in.nu*in.oneL
	crossC := (d.overlap(c, d.cLessB, d.cLessA) + ab*oneNuL) / (ab * c * c)
	crossN := (d.overlap(in.n, d.nLessB, d.nLessA) + ab*oneNuL) / (ab * in.n * in.n)
	return (alpha*alpha+1)*apart*apart + 2*weights + 2*alpha*alpha*labels + 2*alpha*(crossC+crossN)
}

// overlap returns x y - a b as x (y-a) + a (x-b), where x and y are each n or C.
func (d denominators) overlap(x, xLessB, yLessA float64) float64 {
	return x*yLessA + d.a*xLessB
}
