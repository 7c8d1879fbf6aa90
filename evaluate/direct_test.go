package evaluate

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval"
)

// Nothing that protects the label exceeds the ceiling, and selection with the
// true class attains it.
func TestDirectBelowCeiling(t *testing.T) {
	task := digitsTask(t, 1)
	classes := distinct(task.QueryLabels)
	for _, epsilon := range []float64{0.01, 1, 2, 4, 8} {
		for _, size := range []int{1, 4, 8} {
			ceiling, err := retrieval.Ceiling{Answers: size, Classes: classes}.Recall(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			attained, err := task.SubsetRecall(epsilon, size, true)
			if err != nil || math.Abs(attained-ceiling) > 1e-12 {
				t.Errorf("epsilon %g, %d classes: %g with the true class, ceiling %g: %v", epsilon, size, attained, ceiling, err)
			}
			got, err := task.SubsetRecall(epsilon, size, false)
			if err != nil || got > ceiling || got < 0.8*ceiling {
				t.Errorf("epsilon %g, %d classes: %g with the nearest mean, ceiling %g: %v", epsilon, size, got, ceiling, err)
			}
		}
	}
}

// The mechanism itself, drawn, attains the ceiling of 8 of 98 classes. Fresh
// entropy; five standard errors.
func TestCeilingIsAttained(t *testing.T) {
	const classes, size, draws = 98, 8, 4000
	for _, epsilon := range []float64{1, 4} {
		ceiling, err := retrieval.Ceiling{Answers: size, Classes: classes}.Recall(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		hits := 0
		for i := range draws {
			s, err := mechanism.Select(mechanism.NoLedger, mechanism.Unit{Kind: release.UnitRecord, Name: "x"}, mechanism.Subset{Items: classes, Size: size, Epsilon: epsilon}, i%classes)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(s.Items, i%classes) {
				hits++
			}
		}
		if got := float64(hits) / draws; math.Abs(got-ceiling) > 5*math.Sqrt(ceiling*(1-ceiling)/draws) {
			t.Errorf("epsilon %g: %g, ceiling %g", epsilon, got, ceiling)
		}
	}
}

func TestDirectRefuses(t *testing.T) {
	task := digitsTask(t, 1)
	bad := *task
	bad.QueryLabels = nil
	for name, c := range map[string]struct {
		run  func() (float64, error)
		want error
	}{
		"subset of all":  {func() (float64, error) { return task.SubsetRecall(1, 10, false) }, mechanism.ErrParam},
		"subset epsilon": {func() (float64, error) { return task.SubsetRecall(0, 1, false) }, mechanism.ErrParam},
		"subset labels":  {func() (float64, error) { return bad.SubsetRecall(1, 1, false) }, ErrShape},
	} {
		if _, err := c.run(); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}
