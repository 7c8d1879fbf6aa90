package mechanism

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A toyRow is a row of the model: one of two features or the null record, and one of two
// labels.
type toyRow struct{ features, label int }

type toyData [3]toyRow

// toyAll are all data sets of three rows.
var toyAll = func() (all []toyData) {
	var rows []toyRow
	for features := range 3 { // 0 is the null record
		for label := range 2 {
			rows = append(rows, toyRow{features, label})
		}
	}
	for _, a := range rows {
		for _, b := range rows {
			for _, c := range rows {
				all = append(all, toyData{a, b, c})
			}
		}
	}
	return all
}()

// toyPair reports, following the words of package sensitivity, whether two rows may be the two
// sides of a change under a relation.
func toyPair(relation sensitivity.Relation, a, b toyRow) bool {
	null := toyRow{}
	switch relation {
	case sensitivity.ReplaceOne:
		return a.features != 0 && b.features != 0
	case sensitivity.Null:
		return a == null && b.features != 0 || b == null && a.features != 0
	case sensitivity.FeaturesReplace:
		return a.features != 0 && b.features != 0 && a.label == b.label
	}
	return (a.features == 0) != (b.features == 0) && a.label == b.label
}

// A toyProtection is a protection with everything it was made of.
type toyProtection struct {
	Protection
	relation   sensitivity.Relation // 0 for any data
	records    int
	rows       []int // nil for any
	restPublic bool
}

// protects reports whether the protection contains a pair. there is the actual data set;
// its other rows are the public ones.
func (p toyProtection) protects(a, b, there toyData) bool {
	if p.relation == 0 {
		return true
	}
	changed := 0
	for i := range a {
		switch {
		case a[i] == b[i] && (!p.restPublic || slices.Contains(p.rows, i) || a[i] == there[i]):
			continue
		case a[i] == b[i] || p.rows != nil && !slices.Contains(p.rows, i) || !toyPair(p.relation, a[i], b[i]):
			return false
		}
		changed++
	}
	return changed <= p.records
}

func toyProtections() (all []toyProtection) {
	all = append(all, toyProtection{Protection: AnyData()})
	for relation := sensitivity.ReplaceOne; relation <= sensitivity.FeaturesNull; relation++ {
		for records := 1; records <= 3; records++ {
			all = append(all, toyProtection{Protection: AnyRow(relation, records), relation: relation, records: records})
			for _, rows := range [][]int{{0}, {1}, {0, 1}, {0, 2}, {0, 1, 2}} {
				all = append(all, toyProtection{AnyRow(relation, records).only(rows, false), relation, records, rows, false})
			}
		}
		for row := range 2 {
			all = append(all, toyProtection{AnyRow(relation, 1).only([]int{row}, true), relation, 1, []int{row}, true})
		}
	}
	return all
}

// Every pair that Both returns is protected by both, in a model with all data sets of three
// rows; and where the result is one of the two, or a known relation of rows, no pair is
// lost.
func TestBothProtect(t *testing.T) {
	all := toyProtections()
	there := toyData{{1, 0}, {2, 1}, {1, 1}}
	type pair struct{ a, b int }
	pairs := make([]map[pair]bool, len(all))
	for i, p := range all {
		pairs[i] = map[pair]bool{}
		for a := range toyAll {
			for b := range toyAll {
				if p.protects(toyAll[a], toyAll[b], there) {
					pairs[i][pair{a, b}] = true
				}
			}
		}
	}
	find := func(p Protection) int {
		return slices.IndexFunc(all, func(q toyProtection) bool { return q.Protection == p })
	}
	known := 0
	for i, p := range all {
		if !p.valid() || !p.known() || p.Both(p.Protection) != p.Protection || p.Both(Protection{}).known() || (Protection{}).Both(p.Protection).known() {
			t.Fatalf("%v: of itself and of unknown data", p)
		}
		for j, q := range all {
			both := p.Both(q.Protection)
			if both != q.Both(p.Protection) {
				t.Fatalf("%v and %v: order matters", p, q)
			}
			if !both.known() {
				continue
			}
			known++
			place := find(both)
			if place < 0 {
				t.Fatalf("%v and %v: %v", p, q, both)
			}
			for at := range pairs[place] {
				if !pairs[i][at] || !pairs[j][at] {
					t.Fatalf("%v and %v: %v has the pair %v, %v", p, q, both, toyAll[at.a], toyAll[at.b])
				}
			}
			if got, want := p.Includes(q.Protection), both == q.Protection; got != want {
				t.Fatalf("%v includes %v: %v", p, q, got)
			}
		}
	}
	if known < 500 {
		t.Errorf("only %d pairs of protections have something in common", known)
	}
	for _, c := range []struct{ p, q, want Protection }{
		{AnyRow(sensitivity.ReplaceOne, 1), AnyRow(sensitivity.FeaturesReplace, 1), AnyRow(sensitivity.FeaturesReplace, 1)},
		{AnyRow(sensitivity.ReplaceOne, 20), AnyRow(sensitivity.ReplaceOne, 3), AnyRow(sensitivity.ReplaceOne, 3)},
		{AnyRow(sensitivity.ReplaceOne, 20), AnyRow(sensitivity.FeaturesReplace, 3).only([]int{7}, true), AnyRow(sensitivity.FeaturesReplace, 1).only([]int{7}, true)},
		{AnyRow(sensitivity.Null, 1).only([]int{7}, false), AnyRow(sensitivity.Null, 1).only([]int{7}, true), AnyRow(sensitivity.Null, 1).only([]int{7}, true)},
		{AnyRow(sensitivity.Null, 1).only([]int{7}, false), AnyRow(sensitivity.Null, 1).only([]int{8}, false), Protection{}},
		{AnyRow(sensitivity.ReplaceOne, 1), AnyRow(sensitivity.Null, 1), Protection{}},
		{AnyRow(sensitivity.FeaturesReplace, 1), AnyRow(sensitivity.FeaturesNull, 1), Protection{}},
		{AnyRow(sensitivity.Null, 1), AnyRow(sensitivity.FeaturesNull, 1), Protection{}},
		{AnyData(), AnyRow(sensitivity.Null, 1), AnyRow(sensitivity.Null, 1)},
		{AnyRow(sensitivity.ReplaceOne, 2).only([]int{1, 2, 3}, false), AnyRow(sensitivity.ReplaceOne, 1), AnyRow(sensitivity.ReplaceOne, 1).only([]int{3, 1, 2}, false)},
	} {
		if got := c.p.Both(c.q); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.p, c.q, got, c.want)
		}
	}
}

// AllProtect agrees with Both applied repeatedly, and where no pair is left its text says
// whether all protections are known.
func TestAllProtect(t *testing.T) {
	whole, features, null := AnyRow(sensitivity.ReplaceOne, 1), AnyRow(sensitivity.FeaturesReplace, 1), AnyRow(sensitivity.Null, 1)
	for _, c := range []struct {
		want string
		all  []Protection
	}{
		{"any data", nil},
		{"replace-one", []Protection{whole}},
		{"features-replace", []Protection{whole, AnyData(), features, whole}},
		{"none", []Protection{whole, null}},
		{"none", []Protection{null, whole, AnyData()}},
		{"unknown", []Protection{{}}},
		{"unknown", []Protection{whole, {}, whole}},
		{"unknown", []Protection{whole, null, {}}},
	} {
		if got := AllProtect(c.all...); got != c.want {
			t.Errorf("%v: %q, want %q", c.all, got, c.want)
		}
	}
}

// A protection survives the way through six bytes and through its text, and other bytes and
// texts are refused.
func TestProtectionAsBytesAndText(t *testing.T) {
	all := []Protection{
		{}, AnyRow(sensitivity.ReplaceOne, 20), AnyRow(sensitivity.FeaturesNull, 1<<31-1), AnyRow(sensitivity.ReplaceOne, 70).only([]int{0, 1, 2}, false),
		AnyRow(sensitivity.ReplaceOne, 1).only([]int{1<<31 - 1}, true), AnyRow(sensitivity.ReplaceOne, 100).only(make([]int, 200), false),
	}
	for _, p := range toyProtections() {
		all = append(all, p.Protection)
	}
	texts := map[string]Protection{}
	for _, p := range all {
		var b [6]byte
		p.encode(b[:])
		if back, ok := decodeProtection(b[:]); !ok || back != p {
			t.Errorf("%v became %v by %x", p, back, b)
		}
		text, err := p.MarshalText()
		var back Protection
		if err != nil || back.UnmarshalText(text) != nil || back != p {
			t.Errorf("%q became %v: %v", text, back, err)
		}
		if other, seen := texts[string(text)]; seen && other != p {
			t.Errorf("%q is two protections", text)
		}
		texts[string(text)] = p
	}
	for text, want := range map[string]Protection{
		"unknown": {}, "any data": AnyData(), "replace-one, 20 records": AnyRow(sensitivity.ReplaceOne, 20),
		"null, row 17":              AnyRow(sensitivity.Null, 1).only([]int{17}, false),
		"null, row 17, rest public": AnyRow(sensitivity.Null, 1).only([]int{17}, true),
	} {
		if got := want.String(); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	for _, b := range [][]byte{
		{0, 0, 1, 0, 0, 0}, {0, 1, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}, {5, 0, 1, 0, 0, 0}, {5, 1, 0, 0, 0, 0}, {6, 0, 1, 0, 0, 0}, {255, 0, 1, 0, 0, 0},
		{1, 4, 1, 0, 0, 0}, {1, 5, 1, 0, 0, 0}, {1, 6, 1, 0, 0, 0}, {1, 3, 1, 0, 0, 0},
	} {
		if p, ok := decodeProtection(b); ok {
			t.Errorf("%x is taken for %v", b, p)
		}
	}
	for _, text := range []string{
		"", "replace", "replace-one,", "replace-one, 1 records", "replace-one, 0 records", "replace-one, 020 records", "replace-one, row 1, row 2",
		"replace-one, rest public", "replace-one, rows 1", "any data, row 1", "replace-one, 2 records, row 1", "replace-one, row 4294967296",
	} {
		p := AnyData()
		if err := p.UnmarshalText([]byte(text)); !errors.Is(err, ErrParam) || p != AnyData() {
			t.Errorf("%q is taken for %v: %v", text, p, err)
		}
	}
	for _, p := range []Protection{AnyRow(0, 1), AnyRow(5, 1), AnyRow(-1, 1), AnyRow(sensitivity.Null, 0), AnyRow(sensitivity.Null, -3), AnyRow(0, 1).only([]int{1}, true)} {
		if p.known() {
			t.Errorf("%v", p)
		}
	}
}

// Noise protects the pairs that its bound is for.
func TestProtectionOfBounds(t *testing.T) {
	q := matrix(6, 2, 1)
	bound := func(relation sensitivity.Relation, rows []int, records int) sensitivity.Bound {
		b, err := testQuery.Tight(relation, q, sensitivity.Rows{Private: rows})
		if err == nil && records > 1 {
			b, err = b.Group(records)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	public := sensitivity.Public{Row: 4, Features: blas64.General{Rows: 5, Cols: 2, Stride: 2, Data: []float64{1, 0, 1, 0, 0, 1, 0, 1, 0, 1}}, Labels: make([]int32, 5)}
	known, err := testQuery.Known(t.Context(), sensitivity.Null, q, public, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string]sensitivity.Bound{
		"replace-one":                 bound(sensitivity.ReplaceOne, nil, 1),
		"features-replace, 3 records": bound(sensitivity.FeaturesReplace, nil, 3),
		"features-null, row 5":        bound(sensitivity.FeaturesNull, []int{5}, 1),
		"replace-one, row 5":          bound(sensitivity.ReplaceOne, []int{5}, 3),
		"replace-one, 2 records, rows " + fmt.Sprintf("%08x", hashRows([]int{1, 2})): bound(sensitivity.ReplaceOne, []int{2, 1}, 4),
		"null, row 4, rest public": known,
		"unknown":                  {},
	} {
		if got := protectionOf(b).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// The release says the same.
	c, r := fixture(t, 6, 3, 1)
	out, err := c.Privatize(t.Context(), NoLedger, r, nil)
	if err != nil || ProtectionOfRelease(out) != AnyRow(sensitivity.ReplaceOne, 1) || ProtectionOfRelease(out) != c.Spend(0).Protects {
		t.Error(ProtectionOfRelease(out), err)
	}
	out.Sensitivity.Private, out.Sensitivity.PrivateRows, out.Sensitivity.Derivation = 1, []int32{2}, "theorem-2"
	if got := ProtectionOfRelease(out).String(); got != "replace-one, row 2, rest public" {
		t.Error(got)
	}
	if out.Sensitivity.Relation = "other"; ProtectionOfRelease(out).known() {
		t.Error("a relation that nobody knows")
	}
}

// Three faults of a ledger that notes no relation: its total promises nothing for the pair at
// hand. Each spend is refused, and with OtherRelation the total is for the pairs that both
// protect.
func TestOtherRelation(t *testing.T) {
	whole := AnyRow(sensitivity.ReplaceOne, 1)
	features := AnyRow(sensitivity.FeaturesReplace, 1)
	row := AnyRow(sensitivity.ReplaceOne, 1).only([]int{3}, true)
	noise := func(epsilon float64, p Protection) Spend { return Spend{Epsilon: epsilon, Delta: 1e-6, Protects: p} }
	type part struct {
		protects Protection
		spends   int
		epsilon  float64
	}
	for name, c := range map[string]struct {
		first, second Spend
		both          Protection
		parts         []part
	}{
		"the label, then not":      {noise(1, whole), noise(1.4, features), features, []part{{whole, 1, 1}, {features, 2, 1.7688}}},
		"twenty records, then one": {noise(1, AnyRow(sensitivity.ReplaceOne, 20)), noise(1, whole), whole, []part{{AnyRow(sensitivity.ReplaceOne, 20), 1, 1}, {whole, 2, 1.4546}}},
		"any row, then one":        {noise(1, whole), noise(1, row), row, []part{{whole, 1, 1}, {row, 2, 1.4546}}},
		"nothing in common":        {noise(1, whole), noise(1, AnyRow(sensitivity.Null, 1)), Protection{}, []part{{whole, 1, 1}, {AnyRow(sensitivity.Null, 1), 1, 1}}},
		"any data":                 {noise(1, whole), Spend{PureEpsilon: 0.1, Protects: AnyData()}, whole, []part{{whole, 2, 1.1426}, {AnyData(), 1, 0.5052}}},
	} {
		for _, spends := range [][2]Spend{{c.first, c.second}, {c.second, c.first}} {
			path := newLedgerFile(t, Total{Kind: GDP, Epsilon: 2, Delta: 1e-6})
			l := mustOpen(t, path)
			mustReserve(t, l, alice, 0, spends[0])
			before, _ := os.ReadFile(path)
			err := l.Covers(alice, spends[1])
			_, reserve := l.Reserve(alice, releaseID(1), spends[1])
			_, charge := l.Total().Charge(alice, Spent{spentOf(t, l, alice), spends[0].Protects}, spends[1])
			for _, err := range []error{err, reserve, charge} {
				var detail *RelationError
				if !errors.Is(err, ErrOtherRelation) || !errors.As(err, &detail) || *detail != (RelationError{"record", spends[0].Protects, spends[1].Protects}) || strings.Contains(err.Error(), alice.Name) {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Errorf("%s: a refusal was written down", name)
			}
			// Another unit may protect other pairs.
			mustReserve(t, l, bob, 2, spends[1])
			meant := alice
			meant.OtherRelation = true
			if err := l.Covers(meant, spends[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mustReserve(t, l, meant, 3, spends[1])
			balance, err := l.Balance(alice)
			if err != nil || balance.Protects != c.both || len(balance.Subtotals) != 2 {
				t.Fatalf("%s: %+v, %v", name, balance, err)
			}
			for _, want := range c.parts {
				place := slices.IndexFunc(balance.Subtotals, func(s Subtotal) bool { return s.Protects == want.protects })
				if place < 0 {
					t.Fatalf("%s: no subtotal of %v", name, want.protects)
				}
				if s := balance.Subtotals[place]; s.Spends != want.spends || !amountsAgree(s.Epsilon, want.epsilon, 1e-3) {
					t.Errorf("%s: %+v, want %+v", name, s, want)
				}
			}
			// The file says the same, and so does a ledger that is opened again.
			snapshot, err := ReadLedger(path)
			if err != nil {
				t.Fatal(err)
			}
			if read, err := snapshot.Balance(alice); err != nil || !reflect.DeepEqual(read, balance) {
				t.Errorf("%s: %+v, want %+v, %v", name, read, balance, err)
			}
			for i, want := range []Spend{spends[0], spends[1], spends[1]} {
				if snapshot.Entries[i].Spend != want {
					t.Errorf("%s: %+v, want %+v", name, snapshot.Entries[i].Spend, want)
				}
			}
			l.Close()
			l = mustOpen(t, path)
			if again, err := l.Balance(alice); err != nil || !reflect.DeepEqual(again, balance) {
				t.Errorf("%s: %+v, want %+v, %v", name, again, balance, err)
			}
			// From then on a spend must protect exactly what all earlier ones protect;
			// where that is nothing, every spend needs OtherRelation.
			for i, p := range []Protection{c.first.Protects, c.second.Protects, AnyData()} {
				err := l.Covers(alice, Spend{Rho: 0x1p-96, Protects: p})
				if same := c.both.known() && p == c.both; same != (err == nil) || !same && !errors.Is(err, ErrOtherRelation) {
					t.Errorf("%s: spend %d after both: %v", name, i, err)
				}
			}
		}
	}
}

func spentOf(t *testing.T, l *Ledger, u Unit) Pots {
	t.Helper()
	spent, err := l.Spent(u)
	if err != nil {
		t.Fatal(err)
	}
	return spent
}

// A ledger of a program that noted no relation opens and counts. Its spends have an unknown
// relation, which differs from every other.
func TestLedgerOfUnknownRelation(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "relation-unknown.ledger"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.ledger")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, path)
	balance, err := l.Balance(alice)
	if err != nil || balance.Protects.known() || balance.Subtotals != nil || !amountsAgree(balance.Epsilon, 1, 1e-11) || AllProtect(balance.Kinds()...) != "unknown" {
		t.Fatalf("%+v, %v", balance, err)
	}
	one := said(Spend{Epsilon: 1, Delta: 1e-6})
	if err := l.Covers(alice, one); !errors.Is(err, ErrOtherRelation) || !strings.Contains(err.Error(), "no known pair of data sets") {
		t.Error(err)
	}
	unsaid := one
	unsaid.Protects = Protection{}
	meant := alice
	meant.OtherRelation = true
	for _, unit := range []Unit{alice, meant, bob} {
		if _, err := l.Reserve(unit, releaseID(0), unsaid); !errors.Is(err, ErrParam) {
			t.Errorf("a spend that does not say what it protects: %v", err)
		}
		if _, err := l.Total().Charge(unit, Spent{}, unsaid); !errors.Is(err, ErrParam) {
			t.Errorf("a spend that does not say what it protects: %v", err)
		}
	}
	mustReserve(t, l, meant, 5, one)
	balance, err = l.Balance(alice)
	if err != nil || balance.Protects.known() || len(balance.Subtotals) != 2 || balance.Subtotals[0].Protects.known() || balance.Subtotals[0].Spends != 1 ||
		balance.Subtotals[1].Protects != one.Protects || balance.Subtotals[1].Spends != 1 ||
		!slices.Equal(balance.Kinds(), []Protection{{}, one.Protects}) {
		t.Fatalf("%+v, %v", balance, err)
	}
	l.Close()
	s, err := ReadLedger(path)
	if err != nil || len(s.Entries) != 2 || s.Entries[0].Spend.Protects.known() || s.Entries[1].Spend != one {
		t.Fatalf("%+v, %v", s, err)
	}
}

// Every mechanism states what its spends protect, and makes no spend without that.
func TestMechanismsSayWhatTheyProtect(t *testing.T) {
	budget := &fakeBudget{}
	c, r := fixture(t, 6, 3, 1)
	if _, err := c.Privatize(t.Context(), budget, r, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := (Subset{Items: 4, Size: 2, Epsilon: 1}).Select(budget, alice, 1); err != nil {
		t.Fatal(err)
	}
	var got []Protection
	for _, s := range budget.spends {
		got = append(got, s.Protects)
	}
	if want := []Protection{AnyRow(sensitivity.ReplaceOne, 1), AnyData()}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	noise := func() error { t.Error("noise was made"); return nil }
	for _, b := range []Budget{budget, NoLedger} {
		if _, err := spendFirst(b, alice, releaseID(0), Spend{Epsilon: 1, Delta: 1e-6}, noise); !errors.Is(err, ErrParam) || len(budget.spends) != 2 {
			t.Error(err)
		}
	}
}
