package mechanism

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A name that the ledger does not know would be a separate budget, so it needs New;
// once it has spent it is known, in this process and the next.
func TestUnknownUnit(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	l, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { l.Close() }()
	known := func(name string) Unit { return Unit{Kind: release.UnitRecord, Name: name} }
	first := known("digits")
	first.New = true
	refused := func(u Unit) {
		t.Helper()
		sequence, _ := l.Head()
		if err := l.Covers(u, oneUnit); !errors.Is(err, ErrUnknownUnit) {
			t.Error(err)
		}
		if _, err := l.Reserve(u, releaseID(99), oneUnit); !errors.Is(err, ErrUnknownUnit) {
			t.Error(err)
		}
		if now, _ := l.Head(); now != sequence {
			t.Error("a refusal is in the ledger")
		}
	}
	refused(known("digits"))
	mustReserve(t, l, first, 1, oneUnit)
	mustReserve(t, l, known("digits"), 2, oneUnit)
	mustReserve(t, l, first, 3, oneUnit) // New is allowed for a known unit
	for _, name := range []string{"digit", "Digits", "digits ", "digits\x00"} {
		refused(known(name))
	}
	refused(Unit{Kind: release.UnitClient, Name: "digits"})
	l.Close()
	if l, err = OpenLedger(path); err != nil {
		t.Fatal(err)
	}
	mustReserve(t, l, known("digits"), 4, oneUnit)
	refused(known("digit"))
}

func TestPayer(t *testing.T) {
	one, err := OpenLedger(newLedgerFile(t, ledgerTotal))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	two, err := OpenLedger(newLedgerFile(t, ledgerTotal))
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	seen := map[[32]byte]string{}
	for where, budget := range map[string]Budget{"one": one, "two": two, "none": NoLedger} {
		for _, unit := range []Unit{{Kind: release.UnitRecord, Name: "x"}, {Kind: release.UnitClient, Name: "x"}, {Kind: release.UnitRecord, Name: "xx"}} {
			id, err := unit.Payer(budget)
			if err != nil {
				t.Fatal(err)
			}
			who := where + " " + unit.Kind + " " + unit.Name
			if other, there := seen[id]; there {
				t.Errorf("%s and %s are one payer", who, other)
			}
			seen[id] = who
			unit.New = true
			if again, err := unit.Payer(budget); err != nil || again != id {
				t.Errorf("%s: another payer when it is new, %v", who, err)
			}
		}
	}
	// The same ledger opened again is the same payer.
	path := newLedgerFile(t, ledgerTotal)
	var ids [2][32]byte
	for i := range ids {
		l, err := OpenLedger(path)
		if err != nil {
			t.Fatal(err)
		}
		if ids[i], err = alice.Payer(l); err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	if ids[0] != ids[1] {
		t.Error("a ledger opened again is another payer")
	}
	for _, test := range []struct {
		budget Budget
		unit   Unit
		want   error
	}{{nil, alice, ErrLedger}, {(*Ledger)(nil), alice, ErrLedger}, {new(Ledger), alice, ErrLedger}, {NoLedger, Unit{}, ErrParam}} {
		if _, err := test.unit.Payer(test.budget); !errors.Is(err, test.want) {
			t.Error(err, test.want)
		}
	}
}

// A copy of a ledger is the same payer, and does not know what the other has paid since
// then.
func TestPaid(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, path)
	defer l.Close()
	mustReserve(t, l, alice, 0, oneUnit)
	old := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(old, data, 0o600); err != nil {
		t.Fatal(err)
	}
	other := mustOpen(t, old)
	defer other.Close()
	one, _ := alice.Payer(l)
	if two, _ := alice.Payer(other); one != two {
		t.Error("a copy is another payer")
	}
	for _, test := range []struct {
		budget Budget
		id     int
		want   bool
	}{{l, 0, true}, {l, 1, false}, {other, 0, false}, {NoLedger, 1, true}} {
		if got, err := Paid(test.budget, releaseID(test.id)); got != test.want || err != nil {
			t.Errorf("%+v: %v, %v", test, got, err)
		}
	}
	for _, budget := range []Budget{nil, (*Ledger)(nil), new(Ledger)} {
		if paid, err := Paid(budget, releaseID(0)); paid || !errors.Is(err, ErrLedger) {
			t.Error(paid, err)
		}
	}
}
