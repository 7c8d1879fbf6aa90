package sensitivity

import "math"

// Theorem 1: any private row, weights bounded from below.
//
// # Setting
//
// There are N = n+1 rows. Feature weights are symmetric, w_ij in [l, 1], and
// depend on rows i and j only; label weights are u_ij = T[y_i][y_j] with a fixed
// symmetric table T in [u_lo, u_hi] of any sign, U = max(|u_lo|, |u_hi|); alpha
// is any real number. D_i is the sum of the w_ij over j != i. For the full
// kernel l = exp(-2/sigma^2) belongs to antipodal unit rows. The null record has
// the same weight rho to every unit row, exp(-1/(2 sigma^2)) for the full
// kernel. X and X~ agree except in row s. Then
//
//	f_i = q_i/2 + g_i/2,   g_i = [ sum_j w_ij q_j + alpha sum_j u_ij (q_i - q_j) ] / D_i
//
// (sums over j != i), and f_i - f~_i = (g_i - g~_i)/2. A constant added to all
// rows of Q is added to every g_i, so only differences of rows matter, and the
// rows may be taken relative to their mean qbar. Qc is that matrix, F and S its
// Frobenius and spectral norm, rmax its largest row, Z_s the n rows q_j - q_s,
// and H_s the largest sum of |e.(q_j - q_s)| over unit vectors e.
//
// # Statement
//
// Delta(s) = 1/2 sqrt(R_s^2 + O_s^2) with
//
//	R_s = (|alpha| kL/n) H_s + min( kF S/sqrt(n), kT rmax )
//	O_s = (|alpha| ku/d0) |Z_s|_F + psi [ sqrt(chi) |Z_s|_F + (|alpha| U/(n l)) (n F + |Z_s|_F) ]
//
//	d0  = (n-1) l + rho  with a null record, n l without
//	chi = (n-1)/(1 + (n-1) l)
//	psi = max( (1-rho)/((n-1)l+1), (rho-l)/((n-1)l+rho) )  with, (1-l)/((n-1)l+1)  without
//	kF  = (1-l)/(2 sqrt(l))  with,  twice that without
//	kT  = 2 (1-sqrt(l))/(1+sqrt(l))  with,  2 (1-l)/(1+l)  without
//	ku  = u_hi - u_lo,  0 when the label stays
//	kL  = the largest |u/d - u'/d'| for u, u' in [u_lo, u_hi] and d, d' in [l, 1],
//	      one of d, d' being rho with a null record; u = u' when the label stays
//
// kL is attained at end points, since each term is monotone in d: with P(d,d')
// = u_hi/d - u_lo/d' it is the largest of P over {l,1} x {l,1} for ReplaceOne;
// of P(l,rho), P(1,rho), P(rho,l), P(rho,1) for Null; U (1/l - 1) for
// FeaturesReplace; U max(1/l - 1/rho, 1/rho - 1) for FeaturesNull.
//
// # Proof
//
// Row s. Let p_j = w_sj/D_s and t_j = u_sj/D_s. Then
//
//	g_s - g~_s = sum_j (p_j - p~_j) q_j + alpha sum_j (t_j - t~_j)(q_s - q_j).
//
// Since D_s/n is a mean of weights it lies in [l, 1], and equals rho for a null
// record; so |t_j - t~_j| <= kL/n. Projecting the second sum on its own direction
// bounds its norm by (kL/n) H_s. In the first sum p and p~ both add up to 1, so q_j
// may be replaced by q_j - qbar. With m and V the mean and variance of the
// weights w_sj, n |p - 1/n|^2 = V/m^2 <= (1-m)(m-l)/m^2 (Bhatia and Davis 2000),
// which is largest at m = 2l/(1+l), where it is (1-l)^2/(4l). Hence |p - p~|_2 <=
// kF/sqrt(n); with a null record one of the two is uniform and only half is
// needed. By Cauchy and Schwarz the first sum is at most kF S/sqrt(n). It is also at
// most rmax times sum_j |p_j - p~_j|. The ratios p_j/p~_j lie in an interval [a, K a]
// with K = 1/l^2, or 1/l when one of p, p~ is uniform, and that interval contains
// 1. For probability vectors with such ratios the sum is at most
// 2 (sqrt(K)-1)/(sqrt(K)+1): writing v = p/p~, a mean of v under p~ is 1 and the sum is the
// mean of |v-1|, which is convex in v, so it is at most its value for v on the
// two end points a and K a with mean 1, namely 2 (1-a)(Ka-1)/(Ka-a), largest at
// a = 1/sqrt(K). This is kT.
//
// Rows i != s. Let S_i be the sum of the w_ij over j != i, s, let a = w_is and b
// = u_is, and for each row separately write a prime for the data set with the
// larger a. From D_i g_i = sum_{j != i,s} (...) + a q_s + alpha b (q_i - q_s) in
// both data sets,
//
//	g_i - g'_i = (a'-a)/(S_i+a') (g_i - q_s) + alpha (b-b')/(S_i+a') (q_i - q_s).
//
// S_i >= (n-1) l gives (a'-a)/(S_i+a') <= psi (increasing in a', decreasing in a and
// S_i; with a null record a or a' is rho) and S_i + a' >= d0. |b - b'| <= ku. The second
// term, over all rows, is at most (|alpha| ku/d0) |Z_s|_F. In the first,
//
//	g_i - q_s = sum_{j != i,s} (w_ij/D_i)(q_j - q_s)
//	          + (alpha/D_i) [ sum_{j != i,s} u_ij (q_i - q_j) + b (q_i - q_s) ].
//
// The first sum: its coefficients add up to at most 1 in each row, so by Jensen
// its square is at most sum_j (w_ij/D_i) |q_j - q_s|^2, and w_ij/D_i <= 1/(1+(n-1)l),
// since D_i holds n-1 more weights; over the n-1 rows i a column adds up to at most chi.
// So it is at most sqrt(chi) |Z_s|_F, in either data set. The second: D_i >= n l. A
// Laplacian of n nodes with weights |u| <= U has |z^T L z| <= U sum_{i<j} (z_i - z_j)^2
// <= U n |z|^2, so its norm is at most n U, times the norm of the rows of Qc other than
// s, at most F; the weights among rows other than s are the same in both data sets. The
// last is at most U |Z_s|_F. Minkowski's inequality over the rows i gives O_s. Row s and
// the other rows of f - f~ together give Delta(s). No positivity condition
// was used: the theorem holds for all n >= 1, sigma > 0 and real alpha. QED
//
// # Released rows
//
// If only the rows in a set T are published, with m of them other than s, the
// square of R_s counts only when s is in T, and O_s becomes
//
//	(|alpha| ku/d0) |Z_{s,T}|_F + psi min{ the bracket above,
//	    (sqrt(m)/(n l)) ( sum_j |q_j-q_s| + |alpha| U max_{i in T} sum_j |q_i-q_j| ) },
//
// where Z_{s,T} are the rows of Z_s in T: the second member bounds |g_i - q_s| row
// by row with weights at most 1 and D_i >= n l. With T = {s} only R_s remains;
// with m = 0 the sum over other rows is empty.
//
// # From below
//
// With all other rows x_j = e, y_j = c, and row s going between (0, label 0) and
// (-e, c) for Null, (e, 0) and (-e, c) for ReplaceOne, and with equal labels
// between 0 and -e or e and -e for the other two, g_s - g~_s is alpha kL (q_s - mean
// of the others) up to sign, so that Delta(s) >= 1/2 |alpha| kL (N/n) |q_s - qbar|
// for the Gaussian table. The theorem is within sqrt(1 + S^2/(N d_s^2)) and the kF
// term of this: it does not grow with n, while the paper's constant grows like n.

// rowShape holds the numbers of Q around one private row s that the bounds
// need. Every bound is non-decreasing in each of the fields, so upper bounds
// may replace them.
type rowShape struct {
	h        float64 // H_s
	zFrob    float64 // |Z_s|_F
	zSpec    float64 // |Z_s|_2
	farthest float64 // max_j |q_j - q_s|
	sum      float64 // sum_j |q_j - q_s|
	released bool    // s is in T
	others   float64 // m, released rows other than s
	zPart    float64 // |Z_{s,T}|_F
}

// overall holds the other numbers of Q that the bounds need.
type overall struct {
	n         float64 // N - 1
	frobenius float64 // F
	spectral  float64 // S
	radius    float64 // rmax
	partial   bool    // not all rows are released
	sumPart   float64 // max over i in T of sum_j |q_i - q_j|
}

// A form evaluates 2 Delta(s) of one theorem for a row.
type form interface {
	row(r rowShape, q overall) (own, rest float64) // R_s and O_s
}

// both returns 2 Delta(s) from the two parts of a form.
func both(f form, r rowShape, q overall) float64 {
	own, rest := f.row(r, q)
	if !r.released {
		own = 0
	}
	return math.Hypot(own, rest)
}

// theorem1 holds the constants of Theorem 1; for the table of Theorem 1s, kS
// replaces kL.
type theorem1 struct {
	alpha            float64 // absolute value
	low              float64 // l
	largest          float64 // U
	kL, kF, kT, ku   float64
	d0, chi, psi, kS float64
	classSize        bool
}

func newTheorem1(rel Relation, lv levels, t span, alpha, n float64) theorem1 {
	c := theorem1{alpha: math.Abs(alpha), low: math.Exp(-lv.low), largest: t.largest(), classSize: t.classSize}
	c.chi = (n - 1) / (1 + (n-1)*c.low)
	if rel.usesNull() {
		rho := math.Exp(-lv.null)
		c.d0 = (n-1)*c.low + rho
		c.psi = max(
			-math.Expm1(-lv.null)/((n-1)*c.low+1),
			-rho*math.Expm1(-(lv.low-lv.null))/((n-1)*c.low+rho),
		)
		c.kF = math.Sinh(lv.low / 2)
		c.kT = 2 * math.Tanh(lv.low/4)
	} else {
		c.d0 = n * c.low
		c.psi = -math.Expm1(-lv.low) / ((n-1)*c.low + 1)
		c.kF = 2 * math.Sinh(lv.low/2)
		c.kT = 2 * math.Tanh(lv.low/2)
	}
	inverse := inverseGap(rel, lv)
	switch rel {
	case ReplaceOne:
		c.kL = max(t.gap(lv.low, lv.low), t.gap(lv.low, 0), t.gap(0, lv.low), t.gap(0, 0))
		c.kS = 2 * math.Exp(lv.low)
	case Null:
		c.kL = max(t.gap(lv.low, lv.null), t.gap(0, lv.null), t.gap(lv.null, lv.low), t.gap(lv.null, 0))
		c.kS = math.Exp(lv.low) + math.Exp(lv.null)
	default:
		c.kL = c.largest * inverse
		c.kS = inverse
	}
	if rel.LabelPrivate() {
		c.ku = t.spread
	}
	return c
}

// inverseGap returns the largest |1/d - 1/d'| of the degrees of row s over n:
// 1/l - 1, or max(1/l - 1/rho, 1/rho - 1) with a null record.
func inverseGap(rel Relation, lv levels) float64 {
	if rel.usesNull() {
		return max(expGap(lv.low, lv.null), math.Expm1(lv.null))
	}
	return math.Expm1(lv.low)
}

// expGap returns e^a - e^b without cancellation.
func expGap(a, b float64) float64 { return math.Exp(b) * math.Expm1(a-b) }

// gap returns P = hi e^a - lo e^b. Where it is the largest of its kind both
// terms are positive, so nothing cancels.
func (s span) gap(a, b float64) float64 {
	if a >= b {
		return s.hi*expGap(a, b) + s.spread*math.Exp(b)
	}
	return s.spread*math.Exp(a) - s.lo*expGap(b, a)
}

func (c theorem1) row(r rowShape, q overall) (own, rest float64) {
	if c.classSize {
		return c.rowClassSize(r, q)
	}
	own = c.alpha*c.kL/q.n*r.h + c.feature(q)
	bracket := math.Sqrt(c.chi)*r.zFrob + c.alpha*c.largest/(q.n*c.low)*(q.n*q.frobenius+r.zFrob)
	if q.partial {
		bracket = min(bracket, c.rowByRow(r, q))
	}
	return own, c.alpha*c.ku/c.d0*r.zPart + c.psi*bracket // 0 where no other row is released
}

// feature returns the part of R_s that comes from the features of row s.
func (c theorem1) feature(q overall) float64 {
	return min(c.kF*q.spectral/math.Sqrt(q.n), c.kT*q.radius)
}

// rowByRow is the second member of the minimum for some released rows.
func (c theorem1) rowByRow(r rowShape, q overall) float64 {
	return math.Sqrt(r.others) / (q.n * c.low) * (r.sum + c.alpha*c.largest*q.sumPart)
}
