package evaluate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/seed-64e14a55/privatemail/internal/points"
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
		// K answers have at most K classes; here all ten have their share.
		const k = 3
		for name, recall := range map[string]func() (float64, error){
			"gaussian": func() (float64, error) { return task.GaussianRecall(t.Context(), epsilon, 1e-5, k, 1) },
			"privunit": func() (float64, error) { return task.PrivUnitRecall(t.Context(), epsilon, 8, k, 1) },
		} {
			got, err := recall()
			if err != nil {
				t.Fatal(err)
			}
			mass := retrieval.CommonestMass(task.QueryLabels, k)
			ceiling, err := retrieval.Ceiling{Answers: k, Classes: classes, Mass: mass}.Recall(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			n := float64(len(task.QueryLabels))
			if got > ceiling+5*math.Sqrt(ceiling*(1-ceiling)/n) {
				t.Errorf("%s at epsilon %g: %g, ceiling %g", name, epsilon, got, ceiling)
			}
			t.Logf("%s at epsilon %g: %.3f, ceiling %.3f", name, epsilon, got, ceiling)
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

// A release lies in the cap as often as it should, uniformly within, and across
// the row in no preferred direction.
func TestPrivUnit(t *testing.T) {
	const d, draws = 6, 20000
	for _, epsilon := range []float64{0.5, 4} {
		u := newPrivUnit(epsilon, d, rand.New(points.NewSplitMix64(1)))
		if ratio := u.p * u.low / ((1 - u.p) * (1 - u.low)); math.Abs(ratio/math.Exp(epsilon)-1) > 1e-9 {
			t.Errorf("epsilon %g: the densities are as %g", epsilon, ratio)
		}
		gamma := 2*mathext.InvRegIncBeta(u.a, u.a, u.low) - 1
		inside, mean := 0.0, make([]float64, d)
		for range draws {
			row := []float64{0, 0, 1, 0, 0, 0}
			u.release(row)
			norm := 0.0
			for j, v := range row {
				norm += v * v
				mean[j] += v / draws
			}
			if math.Abs(norm-1) > 1e-12 {
				t.Fatalf("length %g", math.Sqrt(norm))
			}
			if row[2] >= gamma {
				inside++
			}
		}
		if got := inside / draws; math.Abs(got-u.p) > 5*math.Sqrt(u.p*(1-u.p)/draws) {
			t.Errorf("epsilon %g: in the cap with %g, want %g", epsilon, got, u.p)
		}
		for j, v := range mean {
			if j != 2 && math.Abs(v) > 5/math.Sqrt(draws) {
				t.Errorf("epsilon %g: coordinate %d has mean %g", epsilon, j, v)
			}
		}
		if mean[2] < 0.1*epsilon {
			t.Errorf("epsilon %g: the mean is %g along the row", epsilon, mean[2])
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
		"subset of all":      {func() (float64, error) { return task.SubsetRecall(1, 10, false) }, mechanism.ErrParam},
		"subset epsilon":     {func() (float64, error) { return task.SubsetRecall(0, 1, false) }, mechanism.ErrParam},
		"subset labels":      {func() (float64, error) { return bad.SubsetRecall(1, 1, false) }, ErrShape},
		"gaussian delta":     {func() (float64, error) { return task.GaussianRecall(t.Context(), 1, 0, 8, 1) }, mechanism.ErrParam},
		"gaussian labels":    {func() (float64, error) { return bad.GaussianRecall(t.Context(), 1, 1e-5, 8, 1) }, ErrShape},
		"gaussian k":         {func() (float64, error) { return task.GaussianRecall(t.Context(), 1, 1e-5, 0, 1) }, ErrShape},
		"privunit epsilon":   {func() (float64, error) { return task.PrivUnitRecall(t.Context(), math.NaN(), 8, 8, 1) }, mechanism.ErrParam},
		"privunit dimension": {func() (float64, error) { return task.PrivUnitRecall(t.Context(), 1, 1, 8, 1) }, ErrShape},
		"privunit wide":      {func() (float64, error) { return task.PrivUnitRecall(t.Context(), 1, 65, 8, 1) }, ErrShape},
		"privunit labels":    {func() (float64, error) { return bad.PrivUnitRecall(t.Context(), 1, 8, 8, 1) }, ErrShape},
	} {
		if _, err := c.run(); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}
