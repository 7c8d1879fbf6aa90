package evaluate

import "github.com/seed-64e14a55/privatemail/retrieval"

// Ceiling returns the largest R@8 of any search whose request is (epsilon,
// delta)-private for the whole query and whose server sends back 8 rows:
// retrieval.Ceiling for that many equally likely classes, and 1, which always
// holds, where it says nothing.
func Ceiling(classes int, epsilon, delta float64) float64 {
	return bound(retrieval.Ceiling{Answers: ListLength, Classes: classes, Delta: delta}, epsilon)
}

// OverlapCeiling returns the largest expected share of the nearest rows that a
// download of a share of the gallery can hold when the request is
// epsilon-private and a neighbour is equally likely to be any row: the same
// bound with rows in place of classes.
func OverlapCeiling(share, epsilon float64) float64 {
	return bound(retrieval.Ceiling{Answers: 1, Classes: 2, Mass: share}, epsilon)
}

func bound(c retrieval.Ceiling, epsilon float64) float64 {
	v, err := c.Recall(epsilon)
	if err != nil { // no more classes than answers
		return 1
	}
	return v
}
