package sensitivity

import "math"

// Theorem 1s: the table ClassSize, u_ij = 1/m(y) between two rows of the same
// class y and 0 otherwise, m(y) counting all rows of the class.
//
// With the notation of Theorem 1,
//
//	R_s = |alpha| kS max_j |q_j-q_s| / n + min( kF S/sqrt(n), kT rmax )
//	O_s = (|alpha| ku/d0) |Z_s|_F + psi [ sqrt(chi) |Z_s|_F + (|alpha|/(n l)) (F + |Z_s|_F/2) ]
//
//	kS = 1/l + 1/rho (Null), 2/l (ReplaceOne), max(1/l-1/rho, 1/rho-1) (FeaturesNull), 1/l - 1 (FeaturesReplace)
//	ku = 1/2 (Null, ReplaceOne), 0 (the others)
//
// Proof. Row s: the label weights of a row add up to (m-1)/m < 1, and D_s/n is
// in [l, 1], or rho. So sum_j |t_j - t~_j| <= kS/n, where for a label that stays
// the weights are the same and only 1/D changes. Features as in Theorem 1.
//
// Rows i != s: now the label weights among other rows change too, those of the
// class that s leaves and of the one it joins. Write B_i for sum_{j != i,s} u_ij (q_i -
// q_j). The identity of Theorem 1 gains alpha (B_i - B'_i)/(S_i+a'). Let A be the
// members of a class other than s, a in number, with mean q_A. With s in it (m = a+1)
//
//	B_i + b (q_i - q_s) = [ a (q_i - q_A) + q_i - q_s ]/(a+1),
//
// without s (m = a) it is q_i - q_A; the difference is (q_A - q_s)/(a+1) for each
// of the a members, and nothing for rows of other classes. Its norm over A is
// sqrt(a)/(a+1) |q_A - q_s| <= |Z_{s,A}|_F/(a+1) <= |Z_{s,A}|_F/2, and the class
// left and the class joined are disjoint: together at most |Z_s|_F/2, which is the
// term with ku. In g_i - q_s, B_i = (a/m)(q_i - q_A) with m = a or a+1, in either
// data set, so over all rows it is at most F (a class mean is the nearest constant),
// and b <= 1/2. The rest is as in Theorem 1. QED
//
// When only rows T are released, a row of T may be moved by rows of its class
// that are not in T, so |Z_{s,T}|_F is not enough: each of its m rows moves by at
// most 1/2 max_j |q_j - q_s| in the term with ku, hence min(|Z_s|_F, sqrt(m) max_j
// |q_j-q_s|) in its place. The row-by-row member holds with U = 1/2.

// rowClassSize returns R_s and O_s of Theorem 1s for a row.
func (c theorem1) rowClassSize(r rowShape, q overall) (own, rest float64) {
	own = c.alpha*c.kS*r.farthest/q.n + c.feature(q)
	bracket := math.Sqrt(c.chi)*r.zFrob + c.alpha/(q.n*c.low)*(q.frobenius+r.zFrob/2)
	moved := r.zFrob
	if q.partial {
		bracket = min(bracket, c.rowByRow(r, q))
		moved = min(moved, math.Sqrt(r.others)*r.farthest)
	}
	return own, c.alpha*c.ku/c.d0*moved + c.psi*bracket
}
