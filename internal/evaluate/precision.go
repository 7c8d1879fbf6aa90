package evaluate

import "fmt"

// AveragePrecision returns mAP@K of lists of K answers: the mean over queries of
//
//	AP@K = 1/min(m, K) sum over places i <= K with an answer of the class
//	       of (answers of the class among the first i) / i,
//
// m the number of gallery rows of the query's class. It is 1 when every list
// begins with all rows of its class; with K the size of the gallery it is the
// usual mean average precision. A query whose class the gallery does not have
// counts 0. An unlabelled row (-1) and a missing answer match nothing. The
// errors are those of Score.
func (r *Ranking) AveragePrecision(queryLabels, galleryLabels []int32) (float64, error) {
	if err := r.check(queryLabels, galleryLabels); err != nil {
		return 0, fmt.Errorf("evaluate: average precision: %w", err)
	}
	sum := 0.0
	for _, v := range r.averagePrecisions(queryLabels, galleryLabels) {
		sum += v
	}
	return sum / float64(r.Queries()), nil
}

// check looks at what scoring a ranking can fail for.
func (r *Ranking) check(queryLabels, galleryLabels []int32) error {
	n := r.Queries()
	if n == 0 || len(r.Index) != n*r.K || len(queryLabels) != n {
		return fmt.Errorf("%w: %d answers in lists of %d, %d query labels", ErrShape, len(r.Index), r.K, len(queryLabels))
	}
	for q, class := range queryLabels {
		if class < 0 {
			return fmt.Errorf("%w: query %d", ErrLabel, q+1)
		}
	}
	for _, row := range r.Index {
		if row >= len(galleryLabels) {
			return fmt.Errorf("%w: answer %d, %d labels", ErrRow, row+1, len(galleryLabels))
		}
	}
	return nil
}

// averagePrecisions returns AP@K query by query; the ranking was checked.
func (r *Ranking) averagePrecisions(queryLabels, galleryLabels []int32) []float64 {
	members := make(map[int32]int)
	for _, class := range galleryLabels {
		members[class]++
	}
	out := make([]float64, len(queryLabels))
	for q, class := range queryLabels {
		hits, sum := 0, 0.0
		for place, row := range r.Row(q) {
			if row >= 0 && galleryLabels[row] == class {
				hits++
				sum += float64(hits) / float64(place+1)
			}
		}
		if hits > 0 {
			out[q] = sum / float64(min(members[class], r.K))
		}
	}
	return out
}
