package paper_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/paper"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A world is a public set, a server with a gallery, and private records.
type world struct {
	engine  *privatemail.Engine
	public  *paper.Public
	server  *paper.Server
	gallery []int32 // labels
	records []paper.Record
}

const worldClasses = 40

func newWorld(t *testing.T, records int) *world {
	t.Helper()
	const public, gallery, d = 120, 400, 16
	x, y, err := synth.Classes(public+gallery+records, d, worldClasses, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows := blas64.General{Rows: x.Rows, Cols: d, Stride: d, Data: make([]float64, len(x.Data))}
	for i, v := range x.Data {
		rows.Data[i] = float64(v)
	}
	cut := func(lo, hi int) blas64.General {
		return blas64.General{Rows: hi - lo, Cols: d, Stride: d, Data: rows.Data[lo*d : hi*d]}
	}
	w := &world{gallery: y[public : public+gallery]}
	if w.engine, err = privatemail.New(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.engine.Close() })
	if w.public, err = paper.NewPublic(cut(0, public), y[:public], worldClasses); err != nil {
		t.Fatal(err)
	}
	w.server, err = paper.NewServer(t.Context(), w.engine, paper.Rows{Features: cut(public, public+gallery), Labels: w.gallery}, w.public, paper.DefaultMethod(), 8, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := public + gallery; i < len(y); i++ {
		w.records = append(w.records, paper.Record{Features: rows.Data[i*d:][:d], Label: y[i]})
	}
	return w
}

func replaceOne(epsilon float64) paper.ClientSettings {
	return paper.ClientSettings{Epsilon: epsilon, Delta: 1e-5, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger}
}

// ask takes one record through both sides, which meet in messages only.
func (w *world) ask(t *testing.T, p *paper.Client, record paper.Record) []paper.Match {
	t.Helper()
	question, read, err := p.Ask(t.Context(), record, mechanism.Unit{Kind: release.UnitRecord, Name: "photo"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.server.Answer(t.Context(), question)
	if err != nil {
		t.Fatal(err)
	}
	found, err := read(answer)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// recall is the share of records with a match of their class.
func (w *world) recall(t *testing.T, settings paper.ClientSettings) float64 {
	t.Helper()
	p, err := paper.NewClient(w.engine, w.public, paper.DefaultMethod(), settings)
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for _, r := range w.records {
		found := w.ask(t, p, r)
		if len(found) != 8 {
			t.Fatalf("%d matches", len(found))
		}
		if slices.ContainsFunc(found, func(m paper.Match) bool { return w.gallery[m.ID] == r.Label }) {
			hits++
		}
	}
	return float64(hits) / float64(len(w.records))
}

// The valid form of the published method: where the label is protected, what it
// finds is chance at every epsilon, and never above what differential privacy
// allows for (K e^eps + (C-1) delta)/(K e^eps + C - K). The allowance is six
// standard errors of chance, a false alarm in 10^6 runs or so.
func TestPaperIsAtChanceAndBelowTheCeiling(t *testing.T) {
	w := newWorld(t, 100)
	const k, c, delta = 8.0, worldClasses, 1e-5
	chance := k / c
	allowance := 6 * math.Sqrt(chance*(1-chance)/float64(len(w.records)))
	for _, epsilon := range longtest.Pick([]float64{4}, []float64{0.01, 4}, []float64{0.01, 4}) {
		got := w.recall(t, replaceOne(epsilon))
		ceiling := (k*math.Exp(epsilon) + (c-1)*delta) / (k*math.Exp(epsilon) + c - k)
		t.Logf("eps %g: %.3f, chance %.3f, ceiling %.3f", epsilon, got, chance, ceiling)
		if math.Abs(got-chance) > allowance {
			t.Errorf("eps %g: %.3f, chance is %.3f +- %.3f", epsilon, got, chance, allowance)
		}
		if got > ceiling+allowance {
			t.Errorf("eps %g: %.3f is above the ceiling %.3f", epsilon, got, ceiling)
		}
	}
}

// The other ways to treat labels go through both sides too.
func TestPaperLabelModes(t *testing.T) {
	w := newWorld(t, 1)
	for name, s := range map[string]paper.ClientSettings{
		"randomised": {Epsilon: 1, Delta: 1e-5, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeRandomised, LabelEpsilon: 1, Ledger: mechanism.NoLedger},
		"public":     {Epsilon: 1, Delta: 1e-5, Relation: sensitivity.FeaturesReplace, LabelMode: release.ModePublic, Ledger: mechanism.NoLedger},
		"as printed": {Epsilon: 1, Delta: 1e-5, Relation: sensitivity.FeaturesReplace, LabelMode: release.ModePublic, SkipOwnClass: true, Ledger: mechanism.NoLedger},
	} {
		p, err := paper.NewClient(w.engine, w.public, paper.DefaultMethod(), s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if found := w.ask(t, p, w.records[0]); len(found) != 8 {
			t.Errorf("%s: %d matches", name, len(found))
		}
	}
}
