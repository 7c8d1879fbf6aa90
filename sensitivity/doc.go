// Package sensitivity bounds how much the first step of the supervised
// iteration can change when one record of the data changes: the number that
// noise for differential privacy is calibrated to.
//
// # What is bounded
//
// There are N rows with features x_i of unit norm and labels y_i in 0 .. classes-1,
// one row of them private. With w_ij = exp(-|x_i-x_j|^2/(2 sigma^2)), u_ij =
// T[y_i][y_j], no self loops, and L_X, L_Y the Laplacians, D the degrees of w,
//
//	f = Q + 1/2 Diag(D)^{-1} (alpha L_Y - L_X) Q,
//
// where Q is N x k, public, and drawn without looking at the data. A [Bound] is
// a number Delta with |f(X) - f(X~)|_F <= Delta for all data sets X, X~ that are
// neighbours under a [Relation], for this one Q: it is a global L2 sensitivity,
// conditional on Q.
//
// N counts all rows, the private one too; the formulas in this package write n
// for N-1, the number of other rows, and c for classes-1, the largest label.
//
// # Functions
//
//	Tight      Theorem 1: any row may be private. Full kernel, constant background
//	           (Background) or degree floor (Floor), any fixed label table, any sign of
//	           alpha, all rows or some of them released
//	Scalar     the same from norms of Q alone
//	Known      Theorem 2: the private row is known and all others are public
//	Corrected  the paper's bound with its errors repaired; larger by a factor of order N
//	Paper      the paper's constant, for comparison only: not a Bound
//
// A [Bound] is for exact arithmetic until [Bound.Inflate] adds the error of the
// computed f, an [Eta] from [Query.EntryError] or [Query.RoundingError]. There is no default
// relation, operator or table, and no fallback: what is not proved is an error
// ([ErrNoBound]). Two examples are a truncated kernel without floor or
// background, and a label table that depends on the data.
//
//	query := sensitivity.Query{Operator: sensitivity.Full{}, Sigma: 6, Alpha: 0.6, Table: sensitivity.Equal{Classes: 10}}
//	bound, err := query.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
//	if err != nil {
//		return err
//	}
//	eta, err := query.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 64})
//	if err != nil {
//		return err
//	}
//	bound, err = bound.Inflate(eta) // what package mechanism calibrates to
//
// # Sizes
//
// With sigma 6, alpha 0.6, 98 classes, k = 2 and a standard normal Q of 1001 rows
// the paper's constant is about 570, Corrected about 450 (640 with the Frobenius norm
// of Q, as the paper writes it), Tight about 1.3 for ReplaceOne and 0.1 for
// FeaturesReplace. Tight does not grow with N; the other two do. For ReplaceOne and Null
// it is nearly attained: at 51 rows data are found that change f by 0.97 of it
// (TestTightness), and weights free in their ranges reach 0.999; for relations of
// features the search finds 0.64 to 0.72 of it.
//
// # Proofs
//
// They stand with the code: Theorem 1 with its forms for other tables, signs
// and released rows in theorem1.go, Theorem 1s (class sizes that count the
// private row) in class_size.go, V1 (Floor) in floor.go, Theorem 2 at [Query.Known],
// Theorem 3 at [Bound.Inflate], the operator errors in eta.go, the paper's
// lemma and its repair in paper.go.
//
// V2 ([Background]) is Theorem 1 unchanged: all weights lie in [om, 1], om the
// smaller of the background and exp(-r^2/(2 sigma^2)), they are symmetric functions
// of two rows, and the null record has the same weight to every unit row, rho when
// the radius is at least 1 and om otherwise. The theorem needs no more, with om for
// l and that weight for rho.
//
// A raw truncated kernel has no useful bound. Let x_1 .. x_n be orthonormal, all
// labels equal, and the radius in [1, sqrt(2)). With a null row s every other
// degree is rho; with x_s = -x_1 it is zero and the pseudo-inverse leaves the row
// in place. f changes by about alpha n/(2 rho) |Qc|_F, of order n^(3/2).
//
// # What a bound cannot see
//
// [Bound.Assumptions] lists the conditions. The ones most easily broken: Q and
// every parameter are chosen without the private record; the list of rows that
// may be private, and for [Query.Known] the other rows, their labels and their number,
// are the same whatever that record is; later steps use nothing private, which
// under [ReplaceOne] and [Null] includes the private label. Delta itself is
// published, and must not depend on anything private. Every non-null row is
// rescaled to unit norm in float64 before f is computed, and the weights of a
// null record are a constant: rows off unit norm by 1e-6 break the bounds in the
// seventh digit, which the last factor does not cover.
//
// # Accuracy
//
// Differences of weights are evaluated by expm1, sinh and tanh of exponents, so
// that wide bandwidths lose no digits; sums are compensated; Q is scaled by a
// power of two and centred relative to its first row. Terms that may still cancel
// have their rounding error added: norms and distances of Q, and the sums over
// public rows of Known. The remaining relative error is below 1e-11, and the last
// step multiplies by 1 + 1e-9, so a Bound stays an upper bound under rounding.
// Numbers too small to have all their digits are refused
// ([ErrNoBound]). Delta(2^p Q) = 2^p Delta(Q) holds to the last bit.
//
// # Concurrency
//
// All functions are pure: the same bits for the same arguments, no state, safe
// for concurrent use.
//
// # References
//
// Vepakomma, Balla and Raskar, PrivateMail: supervised manifold learning of deep
// features with privacy for image retrieval, AAAI 2022 (the lemma). Bhatia and
// Davis, A better bound on the variance, American Mathematical Monthly 107, 2000.
// Balle and Wang, Improving the Gaussian mechanism for differential privacy, ICML
// 2018 (what Delta is used for).
package sensitivity
