package accounts

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// The two pots of a mixed ledger, the bound of a zcdp ledger, and the sum of a pure one.
func TestAccountsOfOtherLedgers(t *testing.T) {
	unit := mechanism.Unit{Kind: release.UnitRecord, Name: "rows", New: true}
	noise := mechanism.Spend{Epsilon: 1, Delta: 1e-6}
	const whose = "for the pairs of data sets that it protects (any data), and for no others\n"
	for _, c := range []struct {
		total  mechanism.Total
		spends []mechanism.Spend
		want   string
	}{
		{mechanism.Total{Kind: mechanism.Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 1}, []mechanism.Spend{noise},
			"so far epsilon 1 of 2 at delta 1e-06, by the one spend of this unit\n" + whose +
				"pots noise: epsilon 1 of 1.017; pure: epsilon 0 of 1\n" +
				"next another spend like the last does not fit: the pot of noise has epsilon 0.1566 left; a ledger made with a smaller -pure-share has more\n"},
		{mechanism.Total{Kind: mechanism.Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 1}, []mechanism.Spend{{PureEpsilon: 0.75}},
			"so far epsilon 0.75 of 2 at delta 1e-06, by the one spend of this unit\n" + whose +
				"pots noise: epsilon 0 of 1.017; pure: epsilon 0.75 of 1\n" +
				"next another spend like the last does not fit: the pure pot has epsilon 0.25 left; a ledger made with a larger -pure-share has more\n"},
		{mechanism.Total{Kind: mechanism.Mixed, Epsilon: 4, Delta: 1e-6, PureEpsilon: 2}, []mechanism.Spend{{Epsilon: 1, Delta: 1e-6, PureEpsilon: 0.5}},
			"so far epsilon 1.475 of 4 at delta 1e-06, by the one spend of this unit\n" + whose +
				"pots noise: epsilon 1 of 2.013; pure: epsilon 0.5 of 2\n" +
				"next another spend like the last fits, and would make it epsilon 2.432\n"},
		{mechanism.Total{Kind: mechanism.ZCDP, Epsilon: 2, Delta: 1e-6}, []mechanism.Spend{noise},
			"so far epsilon 1.078 of 2 at delta 1e-06, by the one spend of this unit\n" + whose +
				"more than the sum of their epsilons, 1, because a zcdp ledger turns rho into epsilon by a bound that is not tight\n" +
				"next another spend like the last fits, and would make it epsilon 1.565\n"},
		{mechanism.Total{Kind: mechanism.GDP, Epsilon: 2, Delta: 1e-5}, []mechanism.Spend{noise},
			"so far epsilon 0.8725 of 2 at delta 1e-05, by the one spend of this unit\n" + whose +
				"next another spend like the last fits, and would make it epsilon 1.278\n"},
		{mechanism.Total{Kind: mechanism.Pure, Epsilon: 2}, []mechanism.Spend{{PureEpsilon: 0.5}, {PureEpsilon: 1}},
			"so far epsilon 1.5 of 2, by the 2 spends of this unit\n" +
				"for the pairs of data sets that all of these spends protect (any data), and for no others\n" +
				"an estimate if a spend was chosen by looking at an earlier release; proved in any case, for these pairs, is the budget, epsilon 2\n" +
				"next another spend like the last does not fit: it would make it epsilon 2.5 of 2\n"},
	} {
		path := filepath.Join(t.TempDir(), "ledger")
		if err := mechanism.CreateLedger(path, c.total); err != nil {
			t.Fatal(err)
		}
		ledger, err := mechanism.OpenLedger(path)
		if err != nil {
			t.Fatal(err)
		}
		other := mechanism.Unit{Kind: release.UnitRecord, Name: "other rows", New: true}
		if _, err := ledger.Reserve(other, [16]byte{99}, anyData(c.spends[0])); err != nil { // it is not among those of the unit
			t.Fatal(err)
		}
		for i, spend := range c.spends {
			if _, err := ledger.Reserve(unit, [16]byte{byte(i)}, anyData(spend)); err != nil {
				t.Fatal(err)
			}
		}
		if err := ledger.Close(); err != nil {
			t.Fatal(err)
		}
		account, err := AccountAt(path, unit)
		if err != nil {
			t.Fatal(err)
		}
		if number := account.Number(2); number != 2 || account.Number(1) != 0 {
			t.Errorf("the line after that of other rows has spend %d", number)
		}
		var got strings.Builder
		account.Write(&got)
		if text := strings.ReplaceAll(strings.ReplaceAll(got.String(), "\n\t", "\n"), "\t", " "); text != c.want {
			t.Errorf("%v:\n%swant\n%s", c.total, text, c.want)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1", 0.25: "0.25", 0.99999: "0.9999", 1.2345999: "1.234", 12345: "1.234e+04"} {
		if got := AtLeast(x, 4); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
	for x := 1e-9; x < 1e9; x *= 1.2345 {
		if shown, err := strconv.ParseFloat(AtLeast(x, 4), 64); err != nil || shown > x || shown < x*(1-1.001e-3) {
			t.Fatalf("%g: %g, %v", x, shown, err)
		}
	}
}

// anyData is a spend that protects any data.
func anyData(s mechanism.Spend) mechanism.Spend {
	s.Protects = mechanism.AnyData()
	return s
}
