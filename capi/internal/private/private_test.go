package private

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// ledger is compared by identity. Nothing is spent.
var ledger = new(mechanism.Ledger)

// filled returns Fields with every field set.
func filled() Fields {
	return Fields{
		Epsilon: 1, Delta: 1e-6, LabelEpsilon: 0.5, Relation: "replace-one", LabelMode: "randomised", Unit: "patients", UnitKind: "client",
		NewUnit: 1, OtherRelation: 1, NormalizeRows: 1, Records: 3, Classes: 4, Dim: 5, Rule: "classical", Table: "different", Operator: "background",
		Bandwidth: kernel.Sigma(0.3), Alpha: -0.6, SigmaQ: 2, Radius: 0.9, Seed: 8, PrivateRows: []int{2, 7},
	}
}

// Every field sets its own setting and no other.
func TestSettingsHaveEveryField(t *testing.T) {
	want := privatemail.PrivateSettings{
		Epsilon: 1, Delta: 1e-6, LabelEpsilon: 0.5, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeRandomised,
		Unit: mechanism.Unit{Kind: release.UnitClient, Name: "patients", New: true, OtherRelation: true}, Ledger: ledger, NormalizeRows: true, Records: 3,
		Classes: 4, Dim: 5, Rule: mechanism.Classical, Table: "different", Operator: "background", Bandwidth: kernel.Sigma(0.3),
		Alpha: -0.6, SigmaQ: 2, Radius: 0.9, Seed: 8, PrivateRows: []int{2, 7},
	}
	f := filled()
	got, err := f.Settings(ledger)
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%v: %+v\nwant %+v", err, got, want)
	}
	f.RestPublic, f.NewUnit, f.OtherRelation, f.NormalizeRows = 1, 0, 0, 0
	want.RestPublic, want.Unit.OtherRelation, want.Unit.New, want.NormalizeRows = true, false, false, false
	if got, err = f.Settings(ledger); err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%v: %+v\nwant %+v", err, got, want)
	}
}

// Fields on which a promise of privacy rests are required, and the error names the field.
func TestSettingsHaveNoDefaults(t *testing.T) {
	for field, clear := range map[string]func(f *Fields){
		"epsilon":      func(f *Fields) { f.Epsilon = 0 },
		"delta":        func(f *Fields) { f.Delta = 0 },
		"relation":     func(f *Fields) { f.Relation = "" },
		"label_mode":   func(f *Fields) { f.LabelMode, f.LabelEpsilon = "", 0 },
		"unit":         func(f *Fields) { f.Unit = "" },
		"classes":      func(f *Fields) { f.Classes = 0 },
		"sigma":        func(f *Fields) { f.Bandwidth = kernel.Bandwidth{} },
		"records":      func(f *Fields) { f.Records = 0 },
		"private_rows": func(f *Fields) { f.PrivateRows = []int{} },
	} {
		f := filled()
		clear(&f)
		if _, err := f.Settings(ledger); !errors.Is(err, mechanism.ErrParam) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	f := filled()
	f.LabelMode, f.LabelEpsilon, f.Alpha, f.Classes = "dropped", 0, 0.5, 0 // the step still reads labels
	if _, err := f.Settings(ledger); !errors.Is(err, mechanism.ErrParam) || !strings.Contains(err.Error(), "classes") {
		t.Errorf("classes of dropped labels: %v", err)
	}
}

// Invalid names and numbers are refused, and never interpreted as others.
func TestSettingsRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *Fields)
		want   error
	}{
		"relation":                  {func(f *Fields) { f.Relation = "add-remove" }, sensitivity.ErrRelation},
		"label mode":                {func(f *Fields) { f.LabelMode = "private" }, mechanism.ErrParam},
		"public labels it protects": {func(f *Fields) { f.LabelMode, f.LabelEpsilon = "public", 0 }, mechanism.ErrParam},
		"price of labels not paid":  {func(f *Fields) { f.LabelEpsilon = 0 }, mechanism.ErrParam},
		"price of dropped labels":   {func(f *Fields) { f.LabelMode = "dropped" }, mechanism.ErrParam},
		"unit kind":                 {func(f *Fields) { f.UnitKind = "row" }, mechanism.ErrParam},
		"rule":                      {func(f *Fields) { f.Rule = "laplace" }, mechanism.ErrParam},
		"other_relation of 2":       {func(f *Fields) { f.OtherRelation = 2 }, mechanism.ErrParam},
		"new_unit of 2":             {func(f *Fields) { f.NewUnit = 2 }, mechanism.ErrParam},
		"uncounted of -1":           {func(f *Fields) { f.Uncounted = -1 }, mechanism.ErrParam},
		"rest_public of 256":        {func(f *Fields) { f.RestPublic = 256 }, mechanism.ErrParam},
		"normalize_rows of 2":       {func(f *Fields) { f.NormalizeRows = 2 }, mechanism.ErrParam},
		"uncounted with a ledger":   {func(f *Fields) { f.Uncounted = 1 }, mechanism.ErrParam},
	} {
		f := filled()
		c.change(&f)
		if s, err := f.Settings(ledger); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// Without a ledger there is no release unless the caller has said that nothing is counted.
func TestPayer(t *testing.T) {
	f := filled()
	if _, err := f.Settings(nil); !errors.Is(err, mechanism.ErrParam) || !strings.Contains(err.Error(), "uncounted") {
		t.Errorf("no ledger: %v", err)
	}
	f.Uncounted, f.Unit = 1, ""
	s, err := f.Settings(nil)
	if err != nil || s.Ledger != mechanism.NoLedger {
		t.Fatalf("uncounted: %+v, %v", s, err)
	}
	if err := s.Unit.Check(s.Ledger); err != nil {
		t.Errorf("uncounted: %v", err)
	}
	f = filled()
	f.UnitKind = ""
	if s, err := f.Settings(ledger); err != nil || s.Ledger != mechanism.Budget(ledger) || s.Unit.Kind != release.UnitRecord {
		t.Errorf("%+v, %v", s, err)
	}
}

// Labels are read only if the step or the release needs them.
func TestReadsLabels(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		mode  string
		want  bool
	}{
		{0, release.ModeDropped, false}, {0, release.ModePublic, false}, {0, release.ModeRandomised, true},
		{0.5, release.ModeDropped, true}, {-0.5, release.ModePublic, true}, {0.5, release.ModeRandomised, true},
	} {
		if got := ReadsLabels(&privatemail.PrivateSettings{Alpha: c.alpha, LabelMode: c.mode}); got != c.want {
			t.Errorf("alpha %g, labels %s: %v", c.alpha, c.mode, got)
		}
	}
}

// A query needs no price, no labels and no payer.
func TestQueryLooksAtNothingElse(t *testing.T) {
	f := Fields{Relation: "null", Bandwidth: kernel.Gamma(2), LabelMode: "private", Uncounted: 1}
	s, err := f.Query()
	if err != nil || s.Relation != sensitivity.Null || s.Ledger != nil || s.Unit.Name != "" || s.LabelMode != "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestTotal(t *testing.T) {
	got, err := Total("mixed", 2, 1e-6, 0.5)
	if want := (mechanism.Total{Kind: mechanism.Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 0.5}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = Total("pure", 2, 0, 0); err != nil || got.Kind != mechanism.Pure {
		t.Errorf("%+v, %v", got, err)
	}
	for field, call := range map[string]func() error{
		"kind":    func() error { _, err := Total("", 1, 1e-6, 0); return err },
		"epsilon": func() error { _, err := Total("gdp", 0, 1e-6, 0); return err },
		"delta":   func() error { _, err := Total("zcdp", 1, 0, 0); return err },
		"\"rdp\"": func() error { _, err := Total("rdp", 1, 1e-6, 0); return err },
	} {
		if err := call(); !errors.Is(err, mechanism.ErrParam) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Flags of the payment must be 0 or 1 even if nothing is paid.
func TestQueryRefusesFlags(t *testing.T) {
	for _, change := range []func(f *Fields){
		func(f *Fields) { f.NewUnit = 2 }, func(f *Fields) { f.Uncounted = -1 }, func(f *Fields) { f.OtherRelation = 2 },
		func(f *Fields) { f.NormalizeRows = 2 }, func(f *Fields) { f.RestPublic = 2 },
	} {
		f := Fields{Relation: "replace-one", Bandwidth: kernel.Sigma(1)}
		if _, err := f.Query(); err != nil {
			t.Fatal(err)
		}
		change(&f)
		if _, err := f.Query(); !errors.Is(err, mechanism.ErrParam) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
