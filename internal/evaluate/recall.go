package evaluate

import (
	"fmt"
	"slices"
)

// Figure is the quality of the first K answers, averaged over all queries.
type Figure struct {
	K int
	// Recall is the share of queries with at least one answer of their class.
	Recall float64
	// Precision is the share of answers that have the class of their query.
	Precision float64
}

// String returns the figures with three digits.
func (f Figure) String() string {
	return fmt.Sprintf("R@%d %.3f  P@%d %.3f", f.K, f.Recall, f.K, f.Precision)
}

// Scores are the figures of one ranking.
type Scores struct {
	// Queries is the number of queries behind the averages.
	Queries int
	// At holds one Figure for each K asked for, in that order.
	At []Figure
}

// Score compares the class of each query with those of its first K answers, for
// each of ks. queryLabels has one entry a query and galleryLabels one for each
// row number that an answer may have. An unlabelled row (-1) and a missing
// answer match nothing.
//
// Errors: ErrShape when there are no queries, no ks, or a K outside 1..r.K;
// ErrLabel for a query without a class; ErrRow for an answer beyond
// galleryLabels.
func (r *Ranking) Score(queryLabels, galleryLabels []int32, ks ...int) (*Scores, error) {
	n := r.Queries()
	if n == 0 || len(r.Index) != n*r.K || len(queryLabels) != n || len(ks) == 0 {
		return nil, fmt.Errorf("evaluate: score: %w: %d answers in lists of %d, %d query labels, %d figures",
			ErrShape, len(r.Index), r.K, len(queryLabels), len(ks))
	}
	for _, k := range ks {
		if k < 1 || k > r.K {
			return nil, fmt.Errorf("evaluate: score: %w: K = %d of %d answers", ErrShape, k, r.K)
		}
	}

	// Two histograms over the position in the list: where matches stand, and
	// where the first one stands. Every K then is a partial sum of integers.
	matches := make([]int, r.K)
	firsts := make([]int, r.K)
	for q, class := range queryLabels {
		if class < 0 {
			return nil, fmt.Errorf("evaluate: score: %w: query %d", ErrLabel, q+1)
		}
		first := true
		for place, row := range r.Row(q) {
			if row >= len(galleryLabels) {
				return nil, fmt.Errorf("evaluate: score: %w: answer %d, %d labels", ErrRow, row+1, len(galleryLabels))
			}
			if row < 0 || galleryLabels[row] != class {
				continue
			}
			matches[place]++
			if first {
				firsts[place]++
				first = false
			}
		}
	}
	s := &Scores{Queries: n}
	for _, k := range ks {
		s.At = append(s.At, Figure{
			K:         k,
			Recall:    float64(sum(firsts[:k])) / float64(n),
			Precision: float64(sum(matches[:k])) / (float64(n) * float64(k)),
		})
	}
	return s, nil
}

// Overlap returns overlap@k of two rankings of the same queries and gallery: the mean
// share of the first k answers that both have, in whatever order. Where a holds the
// exact neighbours in one space, it is the share of them that b brings back. The error
// is ErrShape when the rankings differ in size or hold less than k answers.
func Overlap(a, b *Ranking, k int) (float64, error) {
	n := a.Queries()
	if n == 0 || b.Queries() != n || k < 1 || k > min(a.K, b.K) {
		return 0, fmt.Errorf("evaluate: overlap: %w: %d and %d queries, %d and %d answers, want %d",
			ErrShape, n, b.Queries(), a.K, b.K, k)
	}
	common := 0
	x, y := make([]int, k), make([]int, k)
	for q := range n {
		copy(x, a.Row(q))
		copy(y, b.Row(q))
		common += countCommon(x, y)
	}
	return float64(common) / (float64(n) * float64(k)), nil
}

// countCommon returns how many row numbers both lists have; it sorts them.
func countCommon(x, y []int) (common int) {
	slices.Sort(x)
	slices.Sort(y)
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] < y[j]:
			i++
		case x[i] > y[j]:
			j++
		default:
			if x[i] >= 0 { // two missing answers have nothing in common
				common++
			}
			i++
			j++
		}
	}
	return common
}

func sum(v []int) (s int) {
	for _, e := range v {
		s += e
	}
	return s
}
