package retrieval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Ceiling bounds what any retrieval can do whose query is private as a whole,
// features and label. If the release is (epsilon, delta)-private, the answer has
// rows of at most K classes, and the C classes of queries are equally likely,
// then
//
//	Recall@K <= (K e^epsilon + (C-1) delta) / (K e^epsilon + C - K).
//
// Proof. Let p_c be the law of the release z given class c, and S(z) the classes
// of the answer. For c in S(z) and c' outside, p_c(z) <= e^epsilon p_c'(z) + r(z)
// with an integral of r of at most delta. Average over the C-K classes outside,
// sum over those inside, integrate, solve for the recall. K-subset selection
// (mechanism.Subset) of the true class attains it for delta = 0.
//
// Where classes are not equally likely, K/C becomes the share of the K commonest,
// for delta = 0. A recall above the ceiling, beyond the uncertainty of its
// measurement, is a mistake or a path around the mechanism.
type Ceiling struct {
	Answers int     // K, at least 1
	Classes int     // C, at least K
	Mass    float64 // share of the K commonest classes; 0 where all are alike
	Delta   float64 // of the release; 0 beside Mass
}

func (c Ceiling) check() error {
	switch {
	case c.Answers < 1 || c.Classes < c.Answers:
		return fmt.Errorf("retrieval: %w: %d answers and %d classes", ErrCeiling, c.Answers, c.Classes)
	case !(c.Mass >= 0 && c.Mass <= 1):
		return fmt.Errorf("retrieval: %w: classes of mass %g", ErrCeiling, c.Mass)
	case !(c.Delta >= 0 && c.Delta < 1) || c.Delta > 0 && c.Mass > 0:
		return fmt.Errorf("retrieval: %w: delta %g with mass %g", ErrCeiling, c.Delta, c.Mass)
	}
	return nil
}

// mass returns what classes that cannot be told apart would give.
func (c Ceiling) mass() float64 {
	if c.Mass > 0 {
		return c.Mass
	}
	return float64(c.Answers) / float64(c.Classes)
}

// Recall returns the largest Recall@K that a release of this epsilon allows. With
// Answers = 1 it is the largest probability with which the class of a query can
// be guessed from its release. The error is ErrCeiling, also for an epsilon below
// 0.
func (c Ceiling) Recall(epsilon float64) (float64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	if !(epsilon >= 0) {
		return 0, fmt.Errorf("retrieval: %w: epsilon %g", ErrCeiling, epsilon)
	}
	// All divided by C e^epsilon, which may overflow.
	pi, e := c.mass(), math.Exp(-epsilon)
	failure := c.Delta * e * float64(c.Classes-1) / float64(c.Classes)
	return min(1, (pi+failure)/(pi+(1-pi)*e)), nil
}

// Epsilon turns it round: the least epsilon a release must have spent if its
// Recall@K is recall. With a lower confidence limit of a measured recall it
// audits a claim:
//
//	epsilon >= ln( (R (C-K) - (C-1) delta) / (K (1-R)) ).
//
// The error is ErrCeiling, also for a recall outside 0 to 1.
func (c Ceiling) Epsilon(recall float64) (float64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	if !(recall >= 0 && recall <= 1) {
		return 0, fmt.Errorf("retrieval: %w: recall %g", ErrCeiling, recall)
	}
	pi := c.mass()
	if recall <= pi {
		return 0, nil
	}
	failure := c.Delta * float64(c.Classes-1) / float64(c.Classes)
	return math.Log(max(1, (recall*(1-pi)-failure)/(pi*(1-recall)))), nil
}

// CommonestMass returns the share of labels that belong to the k commonest
// classes among them; 0 where there are no labels.
func CommonestMass(labels []int32, k int) float64 {
	if len(labels) == 0 {
		return 0
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
	for _, n := range sizes[:max(0, min(k, len(sizes)))] {
		sum += n
	}
	return float64(sum) / float64(len(labels))
}
