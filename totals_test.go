package privatemail

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A totalData is a data set of four rows, each with one of two features, 1 and -1, or the null
// record, 0, and one of two labels.
type totalData [4]totalRow

type totalRow struct {
	sign  float64
	label int32
}

func (d *totalData) matrices() (blas64.General, []int32) {
	x, y := blas64.General{Rows: len(d), Cols: 2, Stride: 2}, make([]int32, len(d))
	for i, row := range d {
		x.Data, y[i] = append(x.Data, 0.6*row.sign, 0.8*row.sign), row.label
	}
	return x, y
}

// changed returns the rows in which two data sets differ, and whether one of them is null on
// either side, and whether a label differs.
func (d *totalData) changed(other *totalData) (rows []int, null, label bool) {
	for i := range d {
		if d[i] != other[i] {
			rows = append(rows, i)
			null = null || d[i].sign == 0 || other[i].sign == 0
			label = label || d[i].label != other[i].label
		}
	}
	return rows, null, label
}

// totalPairs calls do for pairs of data sets that differ in one row or two, all without the null
// record, or with it in one of them.
func totalPairs(null bool, do func(a, b *totalData)) {
	states := []totalRow{{1, 0}, {1, 1}, {-1, 0}, {-1, 1}, {0, 0}}
	for number := range 1 << 8 {
		var a totalData
		for i := range a {
			a[i] = states[number>>(2*i)&3]
		}
		for i := range a {
			for _, state := range states {
				if b := a; state != a[i] && (state.sign == 0) == null {
					b[i] = state
					do(&a, &b)
					for j := range i {
						c := b
						c[j].sign, c[j].label = -c[j].sign, 1-c[j].label
						if !null {
							do(&a, &c)
						}
					}
				}
			}
		}
	}
}

// The spending of a unit that a ledger reports holds for every pair of data sets that the ledger
// names, and so does each subtotal: the exact epsilon of the releases together, computed from
// their noise and the difference of their steps, is never above it. For other pairs it is far
// above, so no ledger may add such releases up.
func TestTotalsHoldForWhatTheySay(t *testing.T) {
	const delta = 1e-6
	there := totalData{{1, 0}, {-1, 1}, {1, 1}, {1, 0}}
	one := func(rows []int, null, _ bool, _ *totalData) bool { return len(rows) == 1 && !null }
	two := func(rows []int, null, _ bool, _ *totalData) bool { return len(rows) <= 2 && !null }
	same := func(rows []int, null, label bool, _ *totalData) bool { return len(rows) == 1 && !null && !label }
	gone := func(rows []int, null, _ bool, _ *totalData) bool { return len(rows) == 1 && null }
	row := func(r int) pairsOf {
		return func(rows []int, null, _ bool, _ *totalData) bool { return !null && slices.Equal(rows, []int{r}) }
	}
	rest := func(r int) pairsOf {
		return func(rows []int, null, _ bool, a *totalData) bool {
			at := there
			at[r] = a[r]
			return !null && slices.Equal(rows, []int{r}) && *a == at
		}
	}
	whole := PrivateSettings{Relation: sensitivity.ReplaceOne, Epsilon: 1}
	features := PrivateSettings{Relation: sensitivity.FeaturesReplace, Epsilon: 1.4}
	several := PrivateSettings{Relation: sensitivity.ReplaceOne, Epsilon: 0.1, Records: 2}
	null := PrivateSettings{Relation: sensitivity.Null, Epsilon: 1}
	third := PrivateSettings{Relation: sensitivity.ReplaceOne, Epsilon: 1, PrivateRows: []int{3}}
	alone := PrivateSettings{Relation: sensitivity.ReplaceOne, Epsilon: 1, PrivateRows: []int{3}, RestPublic: true}
	for name, c := range map[string]struct {
		releases []PrivateSettings
		pairs    map[string]pairsOf // by the protection of a total or subtotal
		outside  string             // one of these that the total does not cover and that is far above it
		above    float64
	}{
		"the same":                         {[]PrivateSettings{whole, whole}, map[string]pairsOf{"replace-one": one}, "", 0},
		"label, then features":             {[]PrivateSettings{whole, features}, map[string]pairsOf{"replace-one": one, "features-replace": same}, "replace-one", 20},
		"two records, then one":            {[]PrivateSettings{several, whole}, map[string]pairsOf{"replace-one, 2 records": two, "replace-one": one}, "replace-one, 2 records", 0},
		"any row, then one of public ones": {[]PrivateSettings{whole, alone}, map[string]pairsOf{"replace-one": one, "replace-one, row 3, rest public": rest(3)}, "replace-one", 0},
		"a row, then the rest public":      {[]PrivateSettings{third, alone}, map[string]pairsOf{"replace-one, row 3": row(3), "replace-one, row 3, rest public": rest(3)}, "", 0},
		"with the null record":             {[]PrivateSettings{null, whole, null}, map[string]pairsOf{"null": gone, "replace-one": one}, "", 0},
		"back again":                       {[]PrivateSettings{whole, features, whole}, map[string]pairsOf{"replace-one": one, "features-replace": same}, "replace-one", 20},
	} {
		path := filepath.Join(t.TempDir(), "ledger")
		if err := mechanism.CreateLedger(path, mechanism.Total{Kind: mechanism.GDP, Epsilon: 4, Delta: delta}); err != nil {
			t.Fatal(err)
		}
		ledger, err := mechanism.OpenLedger(path)
		if err != nil {
			t.Fatal(err)
		}
		unit := mechanism.Unit{Kind: release.UnitRecord, Name: "all", New: true, OtherRelation: true}
		steps := make([]func(d *totalData) []float64, len(c.releases))
		protects := make([]mechanism.Protection, len(c.releases))
		for i := range c.releases {
			steps[i], protects[i] = totalRelease(t, &c.releases[i], ledger, unit, &there)
		}
		balance, err := ledger.Balance(unit)
		if err != nil {
			t.Fatal(err)
		}
		ledger.Close()
		// farthest is the largest mu of some releases for some pairs.
		farthest := func(of pairsOf, chosen func(i int) bool) (mu float64) {
			for _, null := range []bool{false, true} {
				totalPairs(null, func(a, b *totalData) {
					rows, null, label := a.changed(b)
					if !of(rows, null, label, a) {
						return
					}
					square := 0.0
					for i, step := range steps {
						if chosen(i) {
							d := floats.Distance(step(a), step(b), 2)
							square += d * d
						}
					}
					mu = max(mu, math.Sqrt(square))
				})
			}
			return mu
		}
		check := func(what string, said mechanism.Protection, spent mechanism.Pots, epsilon float64, chosen func(i int) bool) {
			of := c.pairs[said.String()]
			if of == nil {
				t.Fatalf("%s: %s is for %q", name, what, said)
			}
			mu := farthest(of, chosen)
			got, err := mechanism.EpsilonAt(mu, delta)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s, for %s: epsilon %.4g, at least %.4g", name, what, said, epsilon, got)
			if got > epsilon*(1+1e-9) || mu*mu/2 > spent.Rho.Float()*(1+1e-9) || got < 0.2*epsilon {
				t.Errorf("%s: %s is epsilon %g for %s, and the releases stand at %g", name, what, epsilon, said, got)
			}
		}
		all := func(int) bool { return true }
		if balance.Protects != (mechanism.Protection{}) {
			check("the total", balance.Protects, balance.Spent, balance.Epsilon, all)
		} else if len(balance.Subtotals) == 0 {
			t.Errorf("%s: neither a total nor parts", name)
		}
		for _, part := range balance.Subtotals {
			spends := 0
			in := func(i int) bool { return protects[i] == part.Protects || protects[i].Includes(part.Protects) }
			for i := range protects {
				if in(i) {
					spends++
				}
			}
			if spends != part.Spends {
				t.Errorf("%s: %d spends for %s, want %d", name, part.Spends, part.Protects, spends)
			}
			check("a part", part.Protects, part.Spent, part.Epsilon, in)
		}
		if c.outside != "" {
			got, err := mechanism.EpsilonAt(farthest(c.pairs[c.outside], all), delta)
			if err != nil || got < balance.Epsilon*1.1 || got < c.above {
				t.Errorf("%s: for %s all releases stand at epsilon %g, and the total is %g, %v", name, c.outside, got, balance.Epsilon, err)
			}
			t.Logf("%s: for %s, which the total of epsilon %.4g is not for, all releases stand at %.4g", name, c.outside, balance.Epsilon, got)
		}
	}
}

// pairsOf reports whether a set of pairs contains a pair with the first data set a: by the rows
// that change, whether a null record is on one side, and whether a label changes.
type pairsOf func(rows []int, null, label bool, a *totalData) bool

// totalRelease makes a release of the given data, and returns its step for other data in units of
// its noise.
func totalRelease(t *testing.T, given *PrivateSettings, ledger *mechanism.Ledger, unit mechanism.Unit, there *totalData) (func(d *totalData) []float64, mechanism.Protection) {
	t.Helper()
	s := *given
	s.Delta, s.Ledger, s.Unit, s.LabelMode = 1e-6, ledger, unit, release.ModeDropped
	s.Bandwidth, s.Alpha, s.Classes, s.Dim, s.Seed, s.SigmaQ = kernel.Sigma(5), 30, 2, 1, 238, 1
	x, y := there.matrices()
	out, err := engine(t).Privatize64(t.Context(), x, y, &s)
	if err != nil {
		t.Fatal(err)
	}
	q, err := iterate.RandomStart(t.Context(), len(there), s.Dim, s.Seed, s.SigmaQ)
	if err != nil {
		t.Fatal(err)
	}
	weight := func(d2 float64) float64 { return math.Exp(-d2 / 50) }
	known := map[totalData][]float64{}
	step := func(d *totalData) []float64 {
		if _, there := known[*d]; !there {
			x, y := d.matrices()
			f := plainStep(x, y, q, s.Alpha, weight, weight(1))
			floats.Scale(1/out.Privacy.Sigma, f)
			known[*d] = f
		}
		return known[*d]
	}
	protects := mechanism.ProtectionOfRelease(out)
	if protects == (mechanism.Protection{}) {
		t.Fatal("a release that does not say what it protects")
	}
	return step, protects
}
