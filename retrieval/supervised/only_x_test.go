package supervised

import (
	"reflect"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// OnlyX changes no bit of X and of the map, leaves Z out where rows move, and never writes
// to the rows; Idle is called after the rows were read.
func TestOnlyX(t *testing.T) {
	rows, y, err := synth.Classes(600, 20, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(rows.Data)
	for _, words := range []string{"classic", "raw", "raw,steps=1", "root,unit-rows,standardize,steps=2"} {
		recipe, err := ParseRecipe(words)
		if err != nil {
			t.Fatal(err)
		}
		idle := 0
		fit := func(only bool) *Model {
			m, err := Fit(t.Context(), limited(t, 1<<30), rows, y, &Settings{Recipe: &recipe, OnlyX: only, Idle: func() { idle++ }})
			if err != nil {
				t.Fatalf("%s: %v", words, err)
			}
			return m
		}
		both, only := fit(false), fit(true)
		if !slices.Equal(both.X.Data, only.X.Data) || !reflect.DeepEqual(both.Held, only.Held) {
			t.Errorf("%s: OnlyX gives other rows, or another measurement", words)
		}
		if z := only.Z; recipe.Steps > 0 && z.Data != nil || recipe.Steps == 0 && !slices.Equal(z.Data, both.Z.Data) {
			t.Errorf("%s: Z has %d numbers", words, len(z.Data))
		}
		if z, err := both.Map.Apply(rows); err != nil || !slices.Equal(z.Data, both.Z.Data) {
			t.Errorf("%s: Z is not the image of the rows: %v", words, err)
		}
		if idle < 4 { // when rows are held out, and when all have been mapped
			t.Errorf("%s: %d calls of Idle in two fits", words, idle)
		}
		if !slices.Equal(rows.Data, before) {
			t.Fatalf("%s: the rows have changed", words)
		}
	}
}
