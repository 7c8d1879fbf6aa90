package supervised_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// With NormalizeRows only directions count, whatever recipe is given or chosen, for queries
// too; a row without one is refused by its number.
func TestFitNormalizesRows(t *testing.T) {
	x, labels := labelledRows(120, 5, 42)
	longer := mat.DenseCopyOf(x)
	longer.Apply(func(i, _ int, v float64) float64 { return v * math.Ldexp(1, 2*(i%9-4)) }, longer)
	e := newEngine(t)
	classic := supervised.Classic()
	for _, recipe := range []*supervised.Recipe{nil, &classic} {
		s := &supervised.Settings{Recipe: recipe, NormalizeRows: true}
		one, err := supervised.Fit(t.Context(), e, single(x), labels, s)
		if err != nil {
			t.Fatal(err)
		}
		other, err := supervised.Fit(t.Context(), e, single(longer), labels, s)
		if err != nil {
			t.Fatal(err)
		}
		if !one.Recipe.UnitRows || !one.Map.UnitRows || s.Fix != nil {
			t.Errorf("%v: rows keep their length", one.Recipe)
		}
		a, err := one.Map.Apply(single(longer))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one.Z.Data, a.Data) || recipe != nil && !slices.Equal(one.X.Data, other.X.Data) {
			t.Errorf("%v: lengths count", one.Recipe)
		}
	}
	zero := single(x)
	clear(zero.Data[33*5:][:5])
	_, err := supervised.Fit(t.Context(), e, zero, labels, &supervised.Settings{NormalizeRows: true})
	if row := (*points.ZeroRowError)(nil); !errors.As(err, &row) || row.Row != 33 {
		t.Errorf("a row of zeros: %v", err)
	}
	if _, err := supervised.Fit(t.Context(), e, zero, labels, nil); err != nil {
		t.Errorf("a row of zeros, not normalised: %v", err)
	}
}
