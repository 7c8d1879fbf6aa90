package modes

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// The whole protocol of mode sealed on the digits under two seeds, every query encrypted:
// nearly all neighbours are found, the classes of mode supervised, and messages have the sizes
// that the layout asks for.
func TestSealedOnDigits(t *testing.T) {
	longtest.Only(t)
	x, y := digits.Load()
	d := &evaluate.Data{Name: "digits", Features: x, Labels: y, Division: evaluate.DivisionOf("digits", x.Rows)}
	modes := []evaluate.Mode{Supervised(), Sealed()}
	g := evaluate.Grid{Data: []*evaluate.Data{d}, Modes: modes, Seeds: []uint64{1, 2}}
	cells, err := g.Cells()
	if err != nil {
		t.Fatal(err)
	}
	records, err := (&evaluate.Sweep{Data: g.Data, Modes: modes}).Run(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	overlap, open, sealed := 0.0, 0.0, 0.0
	for _, r := range records {
		if r.Mode == "supervised" {
			open += r.Figures[evaluate.RecallAt1] / 2
			continue
		}
		overlap += r.Figures[evaluate.OverlapAt8] / 2
		sealed += r.Figures[evaluate.RecallAt1] / 2
		checkSealed(t, r)
	}
	t.Logf("overlap %.4f, R@1 %.4f of %.4f", overlap, sealed, open)
	if overlap < .97 || math.Abs(sealed-open) > .01 {
		t.Errorf("overlap %.4f, R@1 %.4f, and %.4f of the exact search", overlap, sealed, open)
	}
}

// checkSealed holds the bytes of a record against the layout.
func checkSealed(t *testing.T, r evaluate.Record) {
	t.Helper()
	if r.Epsilon != 0 || r.Download != 0 || r.Base != 0 {
		t.Errorf("epsilon %g, %g rows a query and %g once", r.Epsilon, r.Download, r.Base)
	}
	cells, length, probes := r.Facts["cells"], r.Facts["slots of a cell"], r.Facts["probes"]
	if n := float64(r.Gallery); cells != math.Round(math.Sqrt(n)/2) || length != math.Ceil(1.25*n/cells) || probes != 8 {
		t.Errorf("%g cells of %g slots, %g probes", cells, length, probes)
	}
	if bound := r.Facts["bound on the error of a squared distance"]; !(bound > 0 && bound < .05) {
		t.Errorf("a bound of %g", bound)
	}
	const frame = 200 // what a message has in addition to its numbers, at the most
	near := func(what string, got, want float64) {
		if !(got > want && got < want+frame) {
			t.Errorf("%s: %g bytes, want %g and a little more", what, got, want)
		}
	}
	v := r.Volume.Sealed
	d := (v.Up - math.Mod(v.Up, 3*probes*cells)) / (3 * probes * cells) // columns of the embedding
	near("up", v.Up, 3*probes*cells*d)
	near("down", v.Down, 4*probes*length)
	near("once", v.Once-frame/2, 4*1408*length+2*cells*length+4*cells*d)
	if v.Seconds <= 0 {
		t.Errorf("%g seconds of the server", v.Seconds)
	}
}
