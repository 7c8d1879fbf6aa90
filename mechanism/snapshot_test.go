package mechanism

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// EpsilonOf agrees with the balance of a unit that has spent the same, clamps spends
// that fit to the total, and has an answer for spends that do not fit.
func TestEpsilonOfSpends(t *testing.T) {
	for _, total := range []Total{{Kind: GDP, Epsilon: 2, Delta: 1e-6}, {Kind: ZCDP, Epsilon: 2, Delta: 1e-6}, {Kind: Mixed, Epsilon: 3, Delta: 1e-6, PureEpsilon: 1}} {
		path := newLedgerFile(t, total)
		ledger, err := OpenLedger(path)
		if err != nil {
			t.Fatal(err)
		}
		unit := Unit{Kind: release.UnitRecord, Name: "a", New: true}
		for i := range 2 {
			spend := said(Spend{Epsilon: 0.5, Delta: 1e-6})
			if total.Kind == Mixed {
				spend.PureEpsilon = 0.25
			}
			if _, err := ledger.Reserve(unit, [16]byte{byte(i)}, spend); err != nil {
				t.Fatal(err)
			}
		}
		if err := ledger.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := ReadLedger(path)
		if err != nil {
			t.Fatal(err)
		}
		balance, err := s.Balance(unit)
		if err != nil {
			t.Fatal(err)
		}
		one, two := s.Entries[0].Cost, s.Entries[1].Cost
		if got := s.EpsilonOf(one, two); got != balance.Epsilon || !(got > s.EpsilonOf(one)) || s.EpsilonOf() != 0 {
			t.Errorf("%v: %g for both spends, the balance has %g", total, got, balance.Epsilon)
		}
		if got := s.EpsilonOf(s.Whole); got > total.Epsilon || got < total.Epsilon*(1-1e-6) {
			t.Errorf("%v: the whole is epsilon %g", total, got)
		}
		if got := s.EpsilonOf(s.Whole, one); !(got > total.Epsilon) {
			t.Errorf("%v: more than the whole is epsilon %g", total, got)
		}
	}
	most := Pots{Rho: Amount{math.MaxUint64, math.MaxUint64}}
	if got := new(Snapshot).EpsilonOf(most, most); !math.IsInf(got, 1) {
		t.Errorf("what no amount can hold is epsilon %g", got)
	}
}
