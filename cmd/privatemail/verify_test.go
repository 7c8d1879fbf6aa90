package main

import (
	"crypto/sha256"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/budget"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A spend that has the identifier of a release is not the spend of that release yet.
func TestPaidFor(t *testing.T) {
	temp := t.TempDir()
	out := temp + "/r"
	succeed(t, private(toy(t), newLedger(t, temp), out)...)
	r, err := files.ReadRelease(out)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	good := mechanism.Entry{
		Sequence: 1, ReleaseID: r.ID, UnitKind: "record", Spend: mechanism.Spend{Epsilon: 1, Delta: 1e-6, Protects: mechanism.AnyRow(sensitivity.ReplaceOne, 1)}, Committed: true, Sum: sha256.Sum256(compact),
	}
	if good.Cost, err = mechanism.Mixed.Price(good.Spend); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*mechanism.Entry)
		want   bool
	}{
		"as it is":         {func(*mechanism.Entry) {}, true},
		"no hash":          {func(e *mechanism.Entry) { e.Committed, e.Sum = false, [sha256.Size]byte{} }, false},
		"a client":         {func(e *mechanism.Entry) { e.UnitKind = "client" }, false},
		"charged less":     {func(e *mechanism.Entry) { e.Cost.Rho = mechanism.Amount{} }, false},
		"charged more":     {func(e *mechanism.Entry) { e.Cost.Pure = e.Cost.Rho }, false},
		"other hash":       {func(e *mechanism.Entry) { e.Sum[0]++ }, false},
		"other spend":      {func(e *mechanism.Entry) { e.Sequence = 3 }, false},
		"cheaper":          {func(e *mechanism.Entry) { e.Spend.Epsilon = 0.5 }, false},
		"larger delta":     {func(e *mechanism.Entry) { e.Spend.Delta = 1e-5 }, false},
		"relation unknown": {func(e *mechanism.Entry) { e.Spend.Protects = mechanism.Protection{} }, true},
		"other relation":   {func(e *mechanism.Entry) { e.Spend.Protects = mechanism.AnyRow(sensitivity.FeaturesReplace, 1) }, false},
		"more records":     {func(e *mechanism.Entry) { e.Spend.Protects = mechanism.AnyRow(sensitivity.ReplaceOne, 2) }, false},
		"labels unpaid":    {func(e *mechanism.Entry) { e.Spend.PureEpsilon = 0.5 }, false},
	} {
		entry := good
		c.change(&entry)
		if entry.Spend != good.Spend { // charged as it was stated
			if entry.Cost, err = mechanism.Mixed.Price(entry.Spend); err != nil {
				t.Fatal(err)
			}
		}
		if paid, note, err := budget.PaidFor(r, mechanism.Mixed, entry); paid != c.want || err != nil {
			t.Errorf("%s: %v, %q, %v", name, paid, note, err)
		}
	}
}
