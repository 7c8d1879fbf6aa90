package mechanism

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Ceiling bounds how often the class of a query can be among K answers to a private
// request. [Ceiling.Recall] and [Ceiling.Epsilon] hold where
//
//   - all that is released of the query's record, taken together, is (epsilon,
//     delta)-private for the whole record, features and label, under the relation
//     replace-one: any record against any other. [Ceiling.NullRecall] and
//     [Ceiling.NullEpsilon] are for the relation null. Under the relations that leave
//     the label public there is no ceiling.
//   - the answers have rows of at most K classes, as K rows do.
//   - the answers are picked from the release and from what is independent of the
//     record, by whomever: nobody ranks rows by the record itself.
//
// In Algorithm 1 (package paper) the server sends K rows for every hidden row and the client keeps those
// at its own place. The place is drawn without a look at the record, so the ceiling for
// K holds. In mode cells the client gets many rows and ranks them by its true features:
// the K that it keeps are not bound by the ceiling for K. What is bound is whether the
// class is among the rows sent, with K the most classes that they and the base sample
// can have together.
//
// Where the C classes of queries are equally likely,
//
//	Recall@K <= (K e^epsilon + (C-1) delta) / (K e^epsilon + C - K),
//
// and with Pi the share of the K commonest classes, whatever the shares are,
//
//	Recall@K <= (Pi e^epsilon + (1 - 1/C) delta) / (Pi e^epsilon + 1 - Pi).
//
// Proof. Let w_c be the share of class c, p_c the law of the release z given that
// class, and S the at most K classes of the answer, a function of z; whatever
// else S depends on is independent of the record and can be held fixed. As a mean over
// the records of c, p_c(z) <= e^epsilon p_c'(z) + r(z) for any other class c', with an
// integral of r of at most delta. Multiply by w_c w_c' and sum over c in S and c'
// outside. With w(S) <= Pi for the share of the classes in S,
//
//	(1 - Pi) sum_S w_c p_c <= e^epsilon Pi sum_not-S w_c' p_c' + sum w_c w_c' r.
//
// The first sum has the integral R, the recall, the second 1 - R, and the third at most
// delta times the sum of w_c w_c' over c other than c', 1 - sum w_c^2 <= 1 - 1/C. Solve
// for R.
//
// K-subset selection (Subset) of the true class attains it where classes are
// equally likely and delta is 0. A recall above the ceiling, beyond what chance allows,
// is a mistake or a path around the mechanism.
type Ceiling struct {
	Answers int     // K, at least 1
	Classes int     // C, at least K
	Mass    float64 // Pi, share of the K commonest classes; 0 where all are alike
	Delta   float64 // of the release
}

func (c Ceiling) check() error {
	switch {
	case c.Answers < 1 || c.Classes < c.Answers:
		return fmt.Errorf("mechanism: ceiling: %w: %d answers and %d classes", ErrParam, c.Answers, c.Classes)
	case !(c.Mass >= 0 && c.Mass <= 1) || c.Mass > 0 && c.Mass < (1-1e-9)*float64(c.Answers)/float64(c.Classes):
		return fmt.Errorf("mechanism: ceiling: %w: the %d commonest of %d classes of mass %g", ErrParam, c.Answers, c.Classes, c.Mass)
	case !(c.Delta >= 0 && c.Delta < 1):
		return fmt.Errorf("mechanism: ceiling: %w: delta %g", ErrParam, c.Delta)
	}
	return nil
}

func (c Ceiling) checkEpsilon(epsilon float64) error {
	if !(epsilon >= 0) {
		return fmt.Errorf("mechanism: ceiling: %w: epsilon %g", ErrParam, epsilon)
	}
	return c.check()
}

func (c Ceiling) checkRecall(recall float64) error {
	if !(recall >= 0 && recall <= 1) {
		return fmt.Errorf("mechanism: ceiling: %w: recall %g", ErrParam, recall)
	}
	return c.check()
}

// mass returns what classes that cannot be told apart would give.
func (c Ceiling) mass() float64 {
	if c.Mass > 0 {
		return c.Mass
	}
	return float64(c.Answers) / float64(c.Classes)
}

// Recall returns what Recall@K cannot exceed when the release has this epsilon under
// replace-one. With Answers = 1 it bounds the probability with which the class of a
// query can be guessed from its release. The error is ErrParam, also for an epsilon
// below 0.
func (c Ceiling) Recall(epsilon float64) (float64, error) {
	if err := c.checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	// All divided by C e^epsilon, which may overflow.
	pi, e := c.mass(), math.Exp(-epsilon)
	failure := c.Delta * e * float64(c.Classes-1) / float64(c.Classes)
	return min(1, (pi+failure)/(pi+(1-pi)*e)), nil
}

// Epsilon is the inverse of Recall: the least epsilon that a release must have under
// replace-one if its Recall@K is recall. With a lower confidence limit of a measured
// recall it audits a claim:
//
//	epsilon >= ln( (R (C-K) - (C-1) delta) / (K (1-R)) ).
//
// The error is ErrParam, also for a recall outside 0 to 1.
func (c Ceiling) Epsilon(recall float64) (float64, error) {
	if err := c.checkRecall(recall); err != nil {
		return 0, err
	}
	pi := c.mass()
	rest := recall*(1-pi) - c.Delta*float64(c.Classes-1)/float64(c.Classes)
	if rest <= 0 {
		return 0, nil
	}
	return math.Log(max(1, rest/(pi*(1-recall)))), nil
}

// Of returns the ceiling for queries with these labels: Mass is the share of them that belongs to
// the commonest Answers classes, 0 where there are no labels.
func (c Ceiling) Of(labels []int32) Ceiling {
	c.Mass = 0
	if len(labels) == 0 {
		return c
	}
	count := make(map[int32]int)
	for _, l := range labels {
		count[l]++
	}
	sizes := make([]int, 0, len(count))
	for _, n := range count {
		sizes = append(sizes, n)
	}
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Compare(b, a) })
	sum := 0
	for _, n := range sizes[:max(0, min(c.Answers, len(sizes)))] {
		sum += n
	}
	c.Mass = float64(sum) / float64(len(labels))
	return c
}
