package mechanism

import "math"

// NullRecall is Recall for a release that is private under the relation null, the
// paper's own: the law of the release for every record is within (epsilon, delta), in
// both directions, of the one law p_0 for the null record. Two real records may then be
// two such steps apart, and the ceiling is higher than under replace-one. The other
// conditions of [Ceiling] are the same. With Pi the share of the K commonest classes,
// K/C where all are alike,
//
//	Recall@K <= min(e^epsilon Pi + delta, 1 - e^-epsilon (1 - Pi - delta)).
//
// Proof. With w_c, p_c and S as there, "c is in S" is an event of the release, so
//
//	R     = sum w_c p_c(c in S)     <= sum w_c (e^epsilon p_0(c in S) + delta)
//	1 - R = sum w_c p_c(c not in S) >= sum w_c e^-epsilon (p_0(c not in S) - delta).
//
// Under p_0 the classes of S have a share of at most Pi whatever S is, so the sum of
// w_c p_0(c in S) is at most Pi and that of w_c p_0(c not in S) at least 1 - Pi.
//
// It is attained where classes are equally likely: the null record names K classes
// evenly at random, and a record of class c names a set with c with the probability of
// the ceiling and one without c otherwise, evenly in both cases.
//
// The error is ErrParam, also for an epsilon below 0.
func (c Ceiling) NullRecall(epsilon float64) (float64, error) {
	if err := c.checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	pi := c.mass()
	found := math.Exp(epsilon)*pi + c.Delta
	missed := math.Exp(-epsilon) * (1 - pi - c.Delta)
	return min(1, found, 1-missed), nil
}

// NullEpsilon is Epsilon for the relation null: the least epsilon that a release must
// have if its Recall@K is recall,
//
//	epsilon >= max( ln((R - delta) / Pi), ln((1 - Pi - delta) / (1 - R)) ).
//
// The error is ErrParam, also for a recall outside 0 to 1.
func (c Ceiling) NullEpsilon(recall float64) (float64, error) {
	if err := c.checkRecall(recall); err != nil {
		return 0, err
	}
	pi := c.mass()
	factor := max(1, (recall-c.Delta)/pi)
	if rest := 1 - pi - c.Delta; rest > 0 {
		factor = max(factor, rest/(1-recall))
	}
	return math.Log(factor), nil
}
