package supervised_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// twoClasses are rows of two kinds of sets: stretched has two classes that differ along one
// direction and vary a hundred times as much along another, which a map mends; rings has one
// class around the other, which no linear map mends.
func twoClasses(n int, rings bool, seed uint64) (blas32.General, []int32) {
	random := rand.New(rand.NewPCG(seed, 1))
	x, labels := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}, make([]int32, n)
	for i := range n {
		labels[i] = int32(i % 2)
		row := x.Data[2*i:][:2]
		if rings {
			angle, radius := 2*math.Pi*random.Float64(), 1+float64(labels[i])+0.1*random.NormFloat64()
			row[0], row[1] = float32(radius*math.Cos(angle)), float32(radius*math.Sin(angle))
			continue
		}
		across, along := float64(labels[i])+0.25*random.NormFloat64(), 30*random.NormFloat64()
		row[0], row[1] = float32(along+across), float32(along-across)
	}
	return x, labels
}

// A recipe is taken where it helps, and rows are left as they are where none does.
func TestFitChooses(t *testing.T) {
	e := newEngine(t)
	x, labels := twoClasses(400, false, 1)
	fit, err := supervised.Fit(t.Context(), e, x, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h := fit.Held; h.Chosen.At1 < h.Raw.At1+0.05 || h.Rows != 400 || h.Tried < 20 {
		t.Errorf("stretched: %v, %+v", fit.Recipe, h)
	}
	x, labels = twoClasses(400, true, 2)
	if fit, err = supervised.Fit(t.Context(), e, x, labels, nil); err != nil {
		t.Fatal(err)
	}
	if h := fit.Held; h.Chosen.At1 < h.Raw.At1-2*h.Error || h.Chosen.At1 < 0.97 {
		t.Errorf("rings: %v, %+v", fit.Recipe, h)
	}
	// What is measured of a recipe that harms says so.
	harm := supervised.Classic()
	if fit, err = supervised.Fit(t.Context(), e, x, labels, &supervised.Settings{Recipe: &harm}); err != nil {
		t.Fatal(err)
	}
	if h := fit.Held; fit.Recipe != harm || h.Tried != 0 || h.Chosen.At1 > h.Raw.At1-0.2 {
		t.Errorf("rings, classic: %v, %+v", fit.Recipe, h)
	}
}

// Labels that have nothing to do with the rows are found by chance alone: what is measured
// has not seen the labels it is measured on.
func TestFitDoesNotSeeHeldLabels(t *testing.T) {
	const n, classes = 600, 4
	random := rand.New(rand.NewPCG(3, 3))
	x, labels := blas32.General{Rows: n, Cols: 8, Stride: 8, Data: make([]float32, 8*n)}, make([]int32, n)
	for i := range x.Data {
		x.Data[i] = float32(random.NormFloat64())
	}
	for i := range labels {
		labels[i] = int32(random.IntN(classes))
	}
	deep := supervised.Deep()
	deep.Steps = 2
	for _, s := range []*supervised.Settings{nil, {Recipe: &deep}} {
		fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, s)
		if err != nil {
			t.Fatal(err)
		}
		// Five standard deviations of a share of .25 in 600 rows, and the rows depend on
		// each other a little.
		if got := fit.Held.Chosen.At1; math.Abs(got-1.0/classes) > 0.1 {
			t.Errorf("%v finds %.3f of random labels", fit.Recipe, got)
		}
	}
}

// The goal decides what is taken, and best recipes are in its order.
func TestFitByGoal(t *testing.T) {
	x, labels := labelledRows(300, 8, 14)
	for _, goal := range []supervised.Goal{supervised.GoalR1, supervised.GoalP8, supervised.GoalR8, supervised.GoalMAP} {
		fit, err := supervised.Fit(t.Context(), newEngine(t), single(x), labels, &supervised.Settings{Goal: goal})
		if err != nil {
			t.Fatal(err)
		}
		best := fit.Held.Best
		if fit.Held.Goal != goal || len(best) < 3 || (fit.Held.Chosen.MAP > 0) != (goal == supervised.GoalMAP) {
			t.Errorf("%v: %+v", goal, fit.Held)
		}
		taken := false
		for i, trial := range best {
			taken = taken || trial.Recipe == fit.Recipe
			if i > 0 && trial.At(goal) > best[i-1].At(goal) {
				t.Errorf("%v: %v finds %g after %g", goal, trial.Recipe, trial.At(goal), best[i-1].At(goal))
			}
		}
		if !taken {
			t.Errorf("%v: %v is not among %v", goal, fit.Recipe, best)
		}
	}
	for text, want := range map[string]supervised.Goal{"r1": supervised.GoalR1, "p8": supervised.GoalP8, "r8": supervised.GoalR8, "map": supervised.GoalMAP} {
		if got, err := supervised.ParseGoal(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s is read as %v: %v", text, got, err)
		}
	}
	if _, err := supervised.ParseGoal("best"); !errors.Is(err, privatemail.ErrSettings) {
		t.Errorf("best: %v", err)
	}
}

// The same seed gives the same choice and the same bits for any number of workers; rows
// without a label take no part in it.
func TestFitRepeats(t *testing.T) {
	x, labels := labelledRows(300, 8, 11)
	var first *supervised.Model
	for _, workers := range []int{1, 3} {
		e, err := privatemail.New(privatemail.WithWorkers(workers))
		if err != nil {
			t.Fatal(err)
		}
		fit, err := supervised.Fit(t.Context(), e, single(x), labels, &supervised.Settings{Seed: 5})
		e.Close()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = fit
			continue
		}
		if fit.Recipe != first.Recipe || !reflect.DeepEqual(fit.Held, first.Held) || !slices.Equal(fit.X.Data, first.X.Data) || !slices.Equal(fit.Z.Data, first.Z.Data) {
			t.Errorf("%d workers: %v %+v, one: %v %+v", workers, fit.Recipe, fit.Held, first.Recipe, first.Held)
		}
	}
	if want := 300 - 300/7; first.Held.Rows > want+1 || first.Held.Rows < want-1 {
		t.Errorf("%d rows held out of %d with a label", first.Held.Rows, want)
	}
}

// Rows of many columns are measured, too, every labelled row once, in the span of the rows.
func TestFitOfManyColumns(t *testing.T) {
	x, labels := labelledRows(400, 420, 12)
	var stages []string
	fit, err := supervised.Fit(t.Context(), newEngine(t), single(x), labels, &supervised.Settings{
		Progress: func(stage string, done, total int) {
			if done < 0 || done > total {
				t.Errorf("%s: %d of %d", stage, done, total)
			}
			if !slices.Contains(stages, stage) {
				stages = append(stages, stage)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if fit.Held == nil || fit.Held.Rows != 343 || fit.Held.Chosen.At1 < fit.Held.Raw.At1-2*fit.Held.Error {
		t.Errorf("%v: %+v", fit.Recipe, fit.Held)
	}
	if !slices.Contains(stages, "recipes") || !slices.Contains(stages, "map") && fit.Map.A != nil {
		t.Errorf("stages %v", stages)
	}
}

// Progress rises and ends, whether a recipe is chosen or given.
func TestFitProgress(t *testing.T) {
	x, labels := twoClasses(120, true, 10)
	given := supervised.Classic()
	for _, recipe := range []*supervised.Recipe{nil, &given} {
		var at []int
		last := 0
		_, err := supervised.Fit(t.Context(), newEngine(t), x, labels, &supervised.Settings{
			Recipe: recipe,
			Progress: func(stage string, done, total int) {
				if stage == "recipes" {
					at, last = append(at, done), total
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(at) || at[0] != 0 || at[len(at)-1] != last || len(at) < 8 || recipe != nil && last != 90 {
			t.Errorf("recipe %v: %v of %d", recipe, at, last)
		}
	}
}

// Fix holds for whatever is chosen.
func TestFitFixes(t *testing.T) {
	longtest.Only(t)
	x, labels := twoClasses(300, true, 4)
	fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, &supervised.Settings{
		Fix: func(r *supervised.Recipe) { r.Steps, r.Columns = 2, 1 },
	})
	if err != nil {
		t.Fatal(err)
	}
	if fit.Recipe.Steps != 2 || fit.X.Cols != 1 || fit.Held == nil {
		t.Errorf("%v makes %d columns", fit.Recipe, fit.X.Cols)
	}
}

// Too few labelled rows are left as they are, and nothing is measured.
func TestFitOfFewRows(t *testing.T) {
	x, labels := twoClasses(12, false, 5)
	fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	if _, err := supervised.Fit(t.Context(), newEngine(t), x, own, nil); !errors.Is(err, supervised.ErrNoPairs) {
		t.Errorf("every row a class: %v", err)
	}
	if fit.Held != nil || fit.Recipe != (supervised.Recipe{}) || !slices.Equal(fit.X.Data, x.Data) {
		t.Errorf("%v, %+v", fit.Recipe, fit.Held)
	}
}

func TestParseRecipe(t *testing.T) {
	for _, r := range []supervised.Recipe{
		supervised.Recipe{}, supervised.Recipe{Standardize: true}, supervised.Classic(), supervised.Deep(),
		{Root: true, UnitRows: true, Standardize: true, Columns: 7, UnitImages: true},
		{Projection: supervised.Discriminate, Ridge: 0.25, Steps: 2, Beta: 0.5, Neighbours: 7},
	} {
		if got, err := supervised.ParseRecipe(r.String()); err != nil || got != r {
			t.Errorf("%v is read as %v: %v", r, got, err)
		}
	}
	for text, want := range map[string]string{
		"whiten": "whiten,ridge=1", "deep,steps=0": "root,unit-rows,discriminate,ridge=1,unit-images",
		" classic , steps=2": "whiten,ridge=1,unit-images,steps=2,beta=3", "steps=1": "steps=1,beta=3", "ridge=3": "raw",
	} {
		if got, err := supervised.ParseRecipe(text); err != nil || got.String() != want {
			t.Errorf("%q is read as %v: %v", text, got, err)
		}
	}
	for _, text := range []string{"", "auto", "root,raw", "whiten=3", "ridge", "ridge=x", "steps=-1", "columns=-2", "beta=NaN,steps=1", "ridge=-1,whiten", "whiten,ridge=0", "steps=1,beta=0", "neighbours=0,steps=1"} {
		if got, err := supervised.ParseRecipe(text); !errors.Is(err, privatemail.ErrSettings) {
			t.Errorf("%q is read as %v: %v", text, got, err)
		} else if text == "" || strings.Contains(text, "auto") {
			continue
		}
	}
}
