package evaluate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// SubsetRecall returns the Recall@K of w-subset selection over the classes of the
// gallery: a query releases w classes instead of the one whose mean is nearest to
// it, and gets rows of these: what it can get without over-fetch, a yardstick for
// mode cells. size is w; 1 is randomised response. With K >= w
// rows at least one is of each class, so the recall is the probability that the
// class of the query is among them, which is exact, not sampled. Its ceiling is
// that of w answers.
//
// trueClass puts the label of the query in place of the nearest mean: the
// mechanism alone, which attains the ceiling.
//
// Errors are ErrShape, ErrNonFinite, and mechanism.ErrParam, also where there are
// not more than size classes.
func (t *CellsTask) SubsetRecall(epsilon float64, size int, trueClass bool) (float64, error) {
	if err := t.check(); err != nil {
		return 0, fmt.Errorf("evaluate: subset: %w", err)
	}
	classes, means := t.classMeans()
	subset := mechanism.Subset{Items: len(classes), Size: size, Epsilon: epsilon}
	p, err := subset.Inclusion()
	if err != nil {
		return 0, fmt.Errorf("evaluate: subset: %w", err)
	}
	// Another class than the released one is in the set beside it, or instead.
	w, m := float64(size), float64(len(classes))
	other := (p*(w-1) + (1-p)*w) / (m - 1)
	sum := 0.0
	for q, label := range t.QueryLabels {
		chosen := label
		if !trueClass {
			chosen = classes[nearestRow(means, queryRow(t.QueryRanking, q))]
		}
		switch {
		case !slices.Contains(classes, label):
		case chosen == label:
			sum += p
		default:
			sum += other
		}
	}
	return sum / float64(len(t.QueryLabels)), nil
}

// classMeans returns the classes of the gallery, rising, and the mean of each in
// the ranking space. Unlabelled rows have no part in it.
func (t *CellsTask) classMeans() (classes []int32, means blas64.General) {
	for _, label := range t.GalleryLabels {
		if label >= 0 {
			classes = append(classes, label)
		}
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	d := t.Ranking.Cols
	means = blas64.General{Rows: len(classes), Cols: d, Stride: d, Data: make([]float64, len(classes)*d)}
	count := make([]float64, len(classes))
	for i, label := range t.GalleryLabels {
		c, ok := slices.BinarySearch(classes, label)
		if !ok {
			continue
		}
		count[c]++
		for j, v := range queryRow(t.Ranking, i) {
			means.Data[c*d+j] += v
		}
	}
	for c := range classes {
		for j := range d {
			means.Data[c*d+j] /= count[c]
		}
	}
	return classes, means
}

func queryRow(x blas64.General, i int) []float64 { return x.Data[i*x.Stride:][:x.Cols] }

func nearestRow(x blas64.General, row []float64) int {
	best, least := 0, math.Inf(1)
	for i := range x.Rows {
		var d float64
		for j, v := range queryRow(x, i) {
			d += (v - row[j]) * (v - row[j])
		}
		if d < least {
			best, least = i, d
		}
	}
	return best
}
