package supervised_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A recipe that parts of the rows do not allow is made of all of them, unmeasured.
func TestFitOfOnePair(t *testing.T) {
	x, labels := twoClasses(24, false, 6)
	for i := range labels {
		labels[i] = int32(max(i, 1)) // rows 0 and 1
	}
	r := supervised.Classic()
	fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, &supervised.Settings{Recipe: &r})
	if err != nil || fit.Held != nil || fit.Recipe != r {
		t.Errorf("classic: %v", err)
	}
	if _, err = supervised.Fit(t.Context(), newEngine(t), x, labels, nil); err != nil {
		t.Errorf("auto: %v", err)
	}
}

// Rows too large for steps have recipes without them.
func TestFitOfLargeRows(t *testing.T) {
	x, labels := twoClasses(60, true, 7)
	for i := range x.Data {
		x.Data[i] *= 1e37
	}
	fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fit.Held == nil || fit.Held.Chosen.At1 < fit.Held.Raw.At1 {
		t.Errorf("%v: %+v", fit.Recipe, fit.Held)
	}
}

// A number of columns holds where the means of classes differ in fewer directions, and where
// there are no more classes than that.
func TestColumnsAreWhatWasAskedFor(t *testing.T) {
	const d = 6
	random := rand.New(rand.NewPCG(8, 8))
	for _, classes := range []int{3, 5, 20} {
		x, labels := blas32.General{Rows: 200, Cols: d, Stride: d, Data: make([]float32, 200*d)}, make([]int32, 200)
		for i := range labels {
			labels[i] = int32(i % classes)
			row := x.Data[d*i:][:d]
			for j := range row { // two columns, repeated
				if row[j] = row[j%2]; j < 2 {
					row[j] = float32(float64(labels[i]*int32(1+j)%7) + 3*random.NormFloat64())
				}
			}
		}
		if classes > 4 {
			m, err := (supervised.Recipe{Projection: supervised.Discriminate, Ridge: 1, Columns: 4, UnitImages: true}).NewMap(t.Context(), x, labels)
			if err != nil || m.Columns() != 4 || m.Check() != nil {
				t.Errorf("%d classes: %v", classes, err)
			}
		}
		fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, &supervised.Settings{Fix: func(r *supervised.Recipe) { r.Columns = 4 }})
		if err != nil || fit.X.Cols != 4 || fit.Held == nil {
			t.Errorf("%d classes: %v", classes, err)
		}
	}
}

// The mean of one class differs from that of all rows by rounding alone.
func TestDiscriminateOneClass(t *testing.T) {
	x, labels := labelledRows(97, 12, 9)
	clear(labels)
	if m, err := supervised.Deep().NewMap(t.Context(), single(x), labels); !errors.Is(err, supervised.ErrEqualMeans) {
		t.Errorf("a map of %d columns: %v", m.Columns(), err)
	}
}

// An unknown goal is refused before any work.
func TestFitRefusesGoals(t *testing.T) {
	x, labels := twoClasses(60, false, 7)
	for _, goal := range []supervised.Goal{-1, supervised.GoalMAP + 1} {
		if _, err := supervised.Fit(t.Context(), newEngine(t), x, labels, &supervised.Settings{Goal: goal}); !errors.Is(err, privatemail.ErrSettings) {
			t.Errorf("%v: %v", goal, err)
		}
	}
}
