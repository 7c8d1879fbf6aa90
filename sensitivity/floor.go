package sensitivity

import "math"

// Variant V1: a floor under the degrees.
//
// The weights are any symmetric functions of two rows with values in [0, 1],
// D^_i = max(D_i, tau) with a public tau > 0. Put g = max(1, tau) and h = max(n,
// tau). With the notation of Theorem 1,
//
//	R_s = |alpha| kLt H_s + min( sqrt(2/g) |Z_s|_2 , 2 max_j |q_j-q_s| )
//	O_s = (1/tau) [ (1 + |alpha| ku) |Z_s|_F + (1 + sqrt(n/g) + |alpha| U N/tau) F ]
//
//	kLt = the largest of u_hi/d - u_lo/d' over d, d' in {tau, h}   (Null, ReplaceOne)
//	      U (1/tau - 1/h)                                         (the label stays)
//
// Proof. 2 (f_i - q_i) = G_i = sum_j (w_ij - alpha u_ij)(q_j - q_i)/D^_i. Row s: p_j =
// w_sj/D^_s has p_j <= 1/g (D^_s is at least w_sj and tau, and w_sj <= 1); they add up
// to at most 1, so |p|^2 <= 1/g. All p_j are >= 0, hence |p - p~|^2 <= |p|^2 + |p~|^2
// <= 2/g, and sum |p - p~| <= 2: the minimum. D^_s lies in [tau, h], so u_sj/D^_s
// changes by at most kLt: the first term, as in Theorem 1.
//
// Rows i != s: with a = w_is, b = u_is,
//
//	G_i - G'_i = G_i (D^'_i - D^_i)/D^'_i + ((a-a') - alpha (b-b'))(q_s - q_i)/D^'_i,
//
// |D^'_i - D^_i| <= |a'-a| <= 1 because the maximum with tau is 1-Lipschitz, and D^'_i
// >= tau. G belongs to one data set: |G|_F <= (|alpha| U N/tau + 1 + sqrt(n/g)) F,
// where the label Laplacian of N nodes has norm at most U N, D_i/D^_i <= 1, and the
// rows of the matrix w_ij/D^_i add up to at most 1 and its entries are at most 1/g, so
// its columns add up to at most n/g. Minkowski. QED
//
// When only rows T are released, |Z_{s,T}|_F may stand for |Z_s|_F in O_s, and as
// in Theorem 1 R_s counts only for s in T and O_s only when T has another row.

// floorForm has the constants of variant V1.
type floorForm struct {
	alpha, tau, largest float64
	kL, ku, g           float64
}

func newFloorForm(rel Relation, f Floor, t span, alpha, n float64) floorForm {
	c := floorForm{alpha: math.Abs(alpha), tau: f.Tau, largest: t.largest(), g: max(1, f.Tau)}
	h := max(n, f.Tau)
	inverse := (h - f.Tau) / f.Tau / h // 1/tau - 1/h
	if !rel.LabelPrivate() {
		c.kL = c.largest * inverse
		return c
	}
	// u_hi/d - u_lo/d' for (d, d') = (tau, tau), (tau, h) and (h, tau); the value at
	// (h, h) is below the first.
	c.kL = max(t.spread/f.Tau, t.spread/h+t.hi*inverse, t.spread/h-t.lo*inverse)
	c.ku = t.spread
	return c
}

func (c floorForm) row(r rowShape, q overall) (own, rest float64) {
	own = c.alpha*c.kL*r.h + min(math.Sqrt(2/c.g)*r.zSpec, 2*r.farthest)
	if r.others == 0 {
		return own, 0
	}
	rest = (1+c.alpha*c.ku)*r.zPart + (1+math.Sqrt(q.n/c.g)+c.alpha*c.largest*(q.n+1)/c.tau)*q.frobenius
	return own, rest / c.tau
}
