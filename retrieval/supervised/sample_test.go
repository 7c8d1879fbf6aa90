package supervised

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/dense"
)

// A sample has two rows of a class, whatever the sizes of classes: a contest without such rows
// would never hold one out.
func TestSampleHasPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		sizes []int // of classes, next to rows that are alone in theirs
		alone int
		n     int
		want  int // rows taken at least
	}{
		"a class of more rows than the sample":    {[]int{1200}, 300, 1000, 950},
		"classes of more rows than the sample":    {slices.Repeat([]int{600}, 40), 0, 500, 500},
		"one pair":                                {[]int{2}, 3000, 1000, 1000},
		"few rows taken":                          {[]int{9, 9, 9}, 9, 2, 2},
		"small classes, whole":                    {slices.Repeat([]int{5}, 500), 0, 1000, 1000},
		"a large class and small ones, which fit": {append(slices.Repeat([]int{3}, 300), 5000), 0, 1000, 900},
	} {
		var labels []int32
		next := int32(0)
		for _, size := range append(slices.Clone(c.sizes), slices.Repeat([]int{1}, c.alone)...) {
			for range size {
				labels = append(labels, next)
			}
			next++
		}
		all := make([]int, len(labels))
		for i := range all {
			all[i] = i
		}
		for range 20 {
			got := sample(labels, all, c.n, random)
			if len(got) > c.n || len(got) < c.want || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Fatalf("%s: %d rows taken, want %d to %d, each once", name, len(got), c.want, c.n)
			}
			if measurable(pick(labels, got)) == nil {
				t.Fatalf("%s: no two of the rows taken share a label", name)
			}
			if name == "small classes, whole" {
				for label, size := range members(pick(labels, got)) {
					if size != 5 {
						t.Fatalf("%d rows of class %d are taken, want all 5", size, label)
					}
				}
			}
		}
	}
}

// A contest of a class that is larger than the sample and of rows that are alone ends.
func TestContestOfUnevenClasses(t *testing.T) {
	const most, alone = mostRows + 1, 3200
	rows, labels, labelled := newRows(most+alone, 1), make([]int32, most+alone), make([]int, most+alone)
	for i := range labels {
		labels[i], labelled[i] = int32(max(i-most+1, 0)), i
	}
	f := &fitter{settings: new(Settings), core: new(dense.Core)}
	if c := f.newContest(rows, labels, labelled, rand.New(rand.NewPCG(1, 1))); len(c.row) == 0 {
		t.Error("no row is held out")
	}
}
