package evaluate

import (
	"math"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// Ceiling returns what R@8 cannot exceed where the request is (epsilon,
// delta)-private for the whole record of the query, any record against any other
// (relation replace-one), and the 8 answers are picked from the request without
// another look at the record: mechanism.Ceiling for that many equally likely classes,
// and 1, which always holds, where it says nothing. A client that gets more rows than
// 8 and ranks them by its true features is not bound by it.
func Ceiling(classes int, epsilon, delta float64) float64 {
	v, err := mechanism.Ceiling{Answers: ListLength, Classes: classes, Delta: delta}.Recall(epsilon)
	if err != nil { // no more classes than answers
		return 1
	}
	return v
}

// OverlapCeiling returns what the expected share of the nearest rows in a download of
// a share of the gallery cannot exceed where the request is epsilon-private for the
// whole record, relation replace-one, and a neighbour is equally likely to be any row:
// mechanism.Ceiling with rows in place of classes. However the client ranks what it
// downloads, it keeps no other rows, so it bounds overlap@8 as well.
func OverlapCeiling(share, epsilon float64) float64 {
	return share / (share + (1-share)*math.Exp(-epsilon))
}
