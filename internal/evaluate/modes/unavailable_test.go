package modes

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/baseline"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

// small returns 150 rows of 4 columns and 3 classes.
func small(t *testing.T) *evaluate.Data {
	t.Helper()
	x, y, err := synth.Classes(150, 4, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &evaluate.Data{Name: "small", Features: x, Labels: y, Division: evaluate.DivisionOf("small", x.Rows)}
}

// unavailable returns the modes without figures, by reason.
func unavailable(t *testing.T, d *evaluate.Data, modes []evaluate.Mode) map[string][]string {
	t.Helper()
	out := make(map[string][]string)
	for _, r := range measure(t, d, modes, 5, 2) {
		if (r.Unavailable == "") != (len(r.Figures) > 0) {
			t.Errorf("%+v", r)
		}
		if r.Unavailable != "" {
			out[r.Unavailable] = append(out[r.Unavailable], r.Mode)
		}
	}
	return out
}

// On rows of 4 columns every mode has figures but those that would keep more columns
// than there are.
func TestAllModesOnFewColumns(t *testing.T) {
	const why = "more dimensions to keep than the 4 that prepared rows have"
	got := unavailable(t, small(t), All())
	want := []string{"pca", "projection", "privunit", "privunit-prepared", "ablation-8-dimensions", "ablation-16-dimensions", "ablation-32-dimensions"}
	if len(got) != 1 || !slices.Equal(got[why], want) {
		t.Errorf("%q", got)
	}
	narrow := All()
	for i, m := range narrow {
		narrow[i] = m.With(evaluate.Params{Dim: 2})
	}
	for _, m := range unavailable(t, small(t), narrow)[why] {
		if !strings.HasSuffix(m, "-dimensions") {
			t.Errorf("%s does not keep 2 dimensions", m)
		}
	}
}

// Fewer rows than a graph has neighbours, and an eighth of a gallery of 12.
func TestAllModesOnTwentyRows(t *testing.T) {
	d := small(t)
	d.Features, d.Labels = firstRows(d.Features, 20), d.Labels[:20]
	d.Division = evaluate.DivisionOf("small", 20)
	for why := range unavailable(t, d, All()) {
		if !strings.Contains(why, "dimensions") && !strings.Contains(why, "cells") {
			t.Errorf("not available: %s", why)
		}
	}
}

func firstRows(x blas32.General, n int) blas32.General {
	x.Rows, x.Data = n, x.Data[:n*x.Stride]
	return x
}

// Labels that no two rows share, and labels that all rows share, leave the modes that
// do not look at classes.
func TestModesWithoutClasses(t *testing.T) {
	d := small(t)
	some := []evaluate.Mode{Supervised(), Cells(), CellsPrepared(), Subset(), SubsetPrepared(), Paper(), PrivUnit().With(evaluate.Params{Dim: 2}), Authors()}
	want := func(got map[string][]string, why string, modes ...string) {
		t.Helper()
		if !slices.Equal(got[why], modes) {
			t.Errorf("%s: %q of %q", why, modes, got)
		}
	}
	for i := range d.Labels {
		d.Labels[i] = int32(i)
	}
	got := unavailable(t, d, some)
	want(got, "no two different rows share a label", "supervised", "cells", "subset", "privunit")
	want(got, "the gallery has no row of the class of a query", "paper", "authors")
	clear(d.Labels)
	for _, r := range measure(t, d, []evaluate.Mode{Supervised(), baseline.SMLQ()}, 0) {
		if _, ok := r.Facts["gamma/2"]; ok || r.Note != "" {
			t.Errorf("%s: one class has a distance to others: %v, %q", r.Mode, r.Facts, r.Note)
		}
	}
	got = unavailable(t, d, some)
	want(got, "the gallery has fewer than two classes", "subset", "subset-prepared", "privunit")
	want(got, "the rows have fewer than two classes", "paper", "authors")
}

// A direction takes two dimensions.
func TestDirectionOfOneDimension(t *testing.T) {
	got := unavailable(t, small(t), []evaluate.Mode{PrivUnit().With(evaluate.Params{Dim: 1})})
	if len(got) != 1 {
		t.Errorf("%q", got)
	}
}
