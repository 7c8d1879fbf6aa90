package privatemail

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Two real records differ by more than a record and the null record, and the mu
// returned for them covers the difference of their first steps.
func TestBetweenRecords(t *testing.T) {
	const n, d, classes = 9, 3, 4
	engine, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	r := rand.New(rand.NewPCG(3, 4))
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	labels := make([]int32, n)
	draw := func(row int) {
		for j := range d {
			x.Data[row*d+j] = r.NormFloat64()
		}
		labels[row] = r.Int32N(classes)
	}
	for i := range n {
		draw(i)
	}
	for _, c := range []struct {
		relation sensitivity.Relation
		operator string
		rows     []int
	}{
		{sensitivity.Null, "dense", nil}, {sensitivity.FeaturesNull, "dense", nil}, {sensitivity.Null, "background", nil},
		{sensitivity.Null, "dense", []int{2, 5}}, {sensitivity.ReplaceOne, "dense", nil}, {sensitivity.FeaturesReplace, "dense", nil},
	} {
		settings := &PrivateSettings{
			Epsilon: 1, Delta: 1e-5, Relation: c.relation, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger,
			Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "x"}, Bandwidth: kernel.Sigma(0.8), Alpha: 0.7, Classes: classes,
			SigmaQ: 1, NormalizeRows: true, Operator: c.operator, PrivateRows: c.rows,
		}
		out, err := engine.Privatize64(t.Context(), x, labels, settings)
		if err != nil {
			t.Fatal(c, err)
		}
		mu, err := BetweenRecords(t.Context(), out)
		if err != nil {
			t.Fatal(c, err)
		}
		if c.relation.Real() == c.relation {
			if mu != out.Privacy.Mu {
				t.Errorf("%v: %g, want %g", c, mu, out.Privacy.Mu)
			}
			continue
		}
		if !(mu > 0 && mu <= 2*out.Privacy.Mu) {
			t.Errorf("%v: mu %g, and %g to the null record", c, mu, out.Privacy.Mu)
		}
		// The bound of the real relation, for the same noise.
		settings.Relation = c.relation.Real()
		real, err := engine.Privatize64(t.Context(), x, labels, settings)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(2*out.Privacy.Mu, real.Sensitivity.Total/out.Privacy.Sigma); math.Abs(mu/want-1) > 1e-9 {
			t.Errorf("%v: mu %g, want %g", c, mu, want)
		}
	}
	// A background with another weight than Privatize uses, and a bound that is not from
	// Tight.
	settings := &PrivateSettings{
		Epsilon: 1, Delta: 1e-5, Relation: sensitivity.Null, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger,
		Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "x"}, Bandwidth: kernel.Sigma(0.8), Alpha: 0.7, Classes: classes,
		SigmaQ: 1, NormalizeRows: true, Operator: "background", Radius: 1,
	}
	out, err := engine.Privatize64(t.Context(), x, labels, settings)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(r *release.Release){
		"start":  func(r *release.Release) { r.Query.SigmaQ = 1e308 },
		"weight": func(r *release.Release) { r.Query.Background /= 2 },
		"seed":   func(r *release.Release) { r.Query.Seed++ },
	} {
		other := *out
		change(&other)
		if mu, err := BetweenRecords(t.Context(), &other); err != nil || mu != 2*out.Privacy.Mu {
			t.Errorf("%s: mu %g, %v, want %g", name, mu, err, 2*out.Privacy.Mu)
		}
	}
	if _, err := BetweenRecords(t.Context(), nil); !errors.Is(err, release.ErrRelease) {
		t.Error(err)
	}
	if _, err := BetweenRecords(t.Context(), new(release.Release)); !errors.Is(err, release.ErrRelease) {
		t.Error(err)
	}
}
