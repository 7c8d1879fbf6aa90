package release

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

func TestCheckAcceptsReleases(t *testing.T) {
	if err := sample().Check(); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := arbitrary(t).Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// wrong holds, for every field, values that are invalid while the others are as
// in sample. A field that allows every value has none.
var wrong = map[string][]func(*Release){
	"ID":        {func(r *Release) { r.ID = [16]byte{} }},
	"Mechanism": texts(func(r *Release) *string { return &r.Mechanism }, "rounded-gaussian", "rounded-gaussian/2", "Rounded-Gaussian/1"),
	"Rows":      numbers(func(r *Release) *int { return &r.Rows }, 0, -5, 4, 6, 10, math.MinInt, math.MaxInt),
	"Columns":   numbers(func(r *Release) *int { return &r.Columns }, 0, -2, 1, 3, math.MinInt, math.MaxInt, math.MaxInt/2+1),
	"Grid": {
		func(r *Release) { r.Grid = nil },
		func(r *Release) { r.Grid = r.Grid[:9] },
		func(r *Release) { r.Grid = append(r.Grid, 0) },
		func(r *Release) { r.Grid[0] = gridLimit + 1 },
		func(r *Release) { r.Grid[9] = -gridLimit - 1 },
		func(r *Release) { r.Grid[5] = math.MinInt64 },
	},
	"Step": floats(func(r *Release) *float64 { return &r.Step }, 0, -0x1p-38, 0x1p-39, 0x1p-37, 0x1.8p-38, 0x1p-901, 0x1p901),
	"Multiple": {
		func(r *Release) { r.Multiple++ },
		func(r *Release) { r.Multiple-- },
		func(r *Release) { r.Multiple = 0 },
		func(r *Release) { r.Multiple = -r.Multiple },
		func(r *Release) { r.Multiple = math.MaxInt64 },
	},
	"Privacy.Epsilon": floats(func(r *Release) *float64 { return &r.Privacy.Epsilon }, 0, -1, 0.9e-6, 100.1),
	"Privacy.Delta":   floats(func(r *Release) *float64 { return &r.Privacy.Delta }, 0, -1e-5, 0.99e-100, 0.11, 1),
	"Privacy.Rule":    texts(func(r *Release) *string { return &r.Privacy.Rule }, "Analytic", terms.RuleClassical), // epsilon is 1
	"Privacy.Sigma":   nearby(func(r *Release) *float64 { return &r.Privacy.Sigma }, 1, -1, 1e6),
	"Privacy.Mu":      nearby(func(r *Release) *float64 { return &r.Privacy.Mu }, -2, 1e10),
	"Privacy.Rho":     nearby(func(r *Release) *float64 { return &r.Privacy.Rho }, -2, 1e10),

	"Sensitivity.Total":         nearby(func(r *Release) *float64 { return &r.Sensitivity.Total }, -3, 1e10),
	"Sensitivity.Bound":         floats(func(r *Release) *float64 { return &r.Sensitivity.Bound }, 0, -1.25, 1.26, 1.2499),
	"Sensitivity.OperatorError": floats(func(r *Release) *float64 { return &r.Sensitivity.OperatorError }, 0, -1e-9, 2e-9, 1),
	"Sensitivity.GridError":     nearby(func(r *Release) *float64 { return &r.Sensitivity.GridError }, -2, 1e15),
	"Sensitivity.Norm":          texts(func(r *Release) *string { return &r.Sensitivity.Norm }, "frobenius", "l1"),
	"Sensitivity.Derivation":    texts(func(r *Release) *string { return &r.Sensitivity.Derivation }, "theorem-1s", "paper", "background"),
	"Sensitivity.Relation":      texts(func(r *Release) *string { return &r.Sensitivity.Relation }, "ReplaceOne", "add-remove"),
	"Sensitivity.Operator":      texts(func(r *Release) *string { return &r.Sensitivity.Operator }, "truncated", "floor", "full kernel"),
	"Sensitivity.Private":       numbers(func(r *Release) *int { return &r.Sensitivity.Private }, 0, 1, 3, -2, 6, math.MaxInt),
	"Sensitivity.PrivateRows": {
		func(r *Release) { r.Sensitivity.PrivateRows = nil },
		func(r *Release) { r.Sensitivity.PrivateRows = r.Sensitivity.PrivateRows[1:] },
		func(r *Release) { r.Sensitivity.PrivateRows[1] = 5 },
		func(r *Release) { r.Sensitivity.PrivateRows[0] = -1 },
		func(r *Release) { r.Sensitivity.PrivateRows[0] = 3 },
		func(r *Release) { r.Sensitivity.PrivateRows[0] = 4 },
	},
	"Sensitivity.Records": numbers(func(r *Release) *int { return &r.Sensitivity.Records }, 0, -1, 6),

	"Query.Sigma":      floats(func(r *Release) *float64 { return &r.Query.Sigma }, 0, -6),
	"Query.Alpha":      floats(func(r *Release) *float64 { return &r.Query.Alpha }),
	"Query.Radius":     floats(func(r *Release) *float64 { return &r.Query.Radius }, 1, -1),
	"Query.Background": floats(func(r *Release) *float64 { return &r.Query.Background }, 0.5, -1),
	"Query.Table":      texts(func(r *Release) *string { return &r.Query.Table }, "balanced", "centred", "Equal"),
	"Query.Classes":    numbers(func(r *Release) *int { return &r.Query.Classes }, 0, -1, 2), // a label is 2
	"Query.SigmaQ":     floats(func(r *Release) *float64 { return &r.Query.SigmaQ }, 0, -1),
	"Query.Seed":       nil,

	"Labels.Mode":    texts(func(r *Release) *string { return &r.Labels.Mode }, ModePublic, ModeDropped, "randomized"),
	"Labels.Epsilon": floats(func(r *Release) *float64 { return &r.Labels.Epsilon }, 0, -1, 1e-7, 101),
	"Labels.Values": {
		func(r *Release) { r.Labels.Values = nil },
		func(r *Release) { r.Labels.Values = r.Labels.Values[1:] },
		func(r *Release) { r.Labels.Values = append(r.Labels.Values, 0) },
		func(r *Release) { r.Labels.Values[4] = 3 },
		func(r *Release) { r.Labels.Values[0] = -1 },
	},
	"Unit":   texts(func(r *Release) *string { return &r.Unit }, "person"),
	"Ledger": nil,
}

func set[T any](at func(*Release) *T, values ...T) (list []func(*Release)) {
	for _, v := range values {
		list = append(list, func(r *Release) { *at(r) = v })
	}
	return list
}

func texts(at func(*Release) *string, values ...string) []func(*Release) {
	return set(at, append(values, "", "\x00", strings.Repeat("x", 1000))...)
}

func numbers(at func(*Release) *int, values ...int) []func(*Release) { return set(at, values...) }

func floats(at func(*Release) *float64, values ...float64) []func(*Release) {
	return set(at, append(values, math.NaN(), math.Inf(1), math.Inf(-1))...)
}

// nearby moves a number by multiples of its last digit, and sets it to values
// that are never valid.
func nearby(at func(*Release) *float64, digits ...float64) []func(*Release) {
	list := floats(at, 0, -1, math.MaxFloat64, 5e-324)
	for _, d := range digits {
		list = append(list, func(r *Release) {
			x := *at(r)
			*at(r) = x + d*(up(x)-x)
		})
	}
	return list
}

func TestCheckNoticesEveryField(t *testing.T) {
	seen := make(map[string]bool)
	leaves(reflect.ValueOf(*sample()), "", func(path string, v reflect.Value) {
		cases, ok := wrong[path]
		if !ok {
			t.Errorf("no case for field %s", path)
		}
		seen[path] = true
		for i, change := range cases {
			r := sample()
			change(r)
			err := r.Check()
			sentinel := ErrRelease
			if path == "Mechanism" {
				sentinel = errVersion
			}
			if wantError(t, err, sentinel); t.Failed() {
				t.Fatalf("field %s, case %d", path, i)
			}
			if b, err := r.MarshalBinary(); err == nil || len(b) > 0 {
				t.Errorf("field %s, case %d is written", path, i)
			}
			if b, err := r.MarshalJSON(); err == nil || len(b) > 0 {
				t.Errorf("field %s, case %d is written as JSON", path, i)
			}
		}
	})
	for path := range wrong {
		if !seen[path] {
			t.Errorf("no field for case %s", path)
		}
	}
}

// Both forms are written from one list, which must have every field once and
// under its name.
func TestSchemaHasEveryField(t *testing.T) {
	r := sample()
	listed := make(map[uintptr]string)
	for _, f := range r.fields() {
		listed[reflect.ValueOf(f.value).Pointer()] = f.name
	}
	count := 0
	leaves(reflect.ValueOf(r).Elem(), "", func(path string, v reflect.Value) {
		count++
		if got, want := listed[v.Addr().Pointer()], snake(path); got != want {
			t.Errorf("field %s is listed as %q, want %q", path, got, want)
		}
	})
	if count != len(r.fields()) || count != len(listed) {
		t.Errorf("%d fields, %d are listed", count, len(r.fields()))
	}
}

// snake turns Sensitivity.GridError into sensitivity.grid_error.
func snake(path string) string {
	var b strings.Builder
	runes := []rune(path)
	for i, c := range runes {
		if unicode.IsUpper(c) && i > 0 && unicode.IsLower(runes[i-1]) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// Checks that depend on more than one field.
func TestCheckCombinations(t *testing.T) {
	cases := map[string]struct {
		change func(*Release)
		field  string // "" when it is right
	}{
		"classical below 1":  {func(r *Release) { r.Privacy.Epsilon, r.Privacy.Rule = 0.99, terms.RuleClassical; finish(r, 4.9) }, ""},
		"classical at 1":     {func(r *Release) { r.Privacy.Rule = terms.RuleClassical }, "privacy.rule"},
		"floor":              {func(r *Release) { r.Sensitivity.Derivation, r.Sensitivity.Operator = "degree-floor", "floor" }, ""},
		"two records":        {func(r *Release) { r.Sensitivity.Records = 2 }, ""},
		"two null records":   {func(r *Release) { r.Sensitivity.Records, r.Sensitivity.Relation = 2, "null" }, "sensitivity.records"},
		"two null features":  {func(r *Release) { r.Sensitivity.Records, r.Sensitivity.Relation = 2, "features-null" }, "sensitivity.records"},
		"two known rows":     {func(r *Release) { knownRow(r, 1); r.Sensitivity.Records = 2 }, "sensitivity.records"},
		"one known row":      {func(r *Release) { knownRow(r, 4) }, ""},
		"known among two":    {func(r *Release) { knownRow(r, 1, 4) }, "sensitivity.private"},
		"known nowhere":      {func(r *Release) { knownRow(r) }, "sensitivity.private"},
		"any row":            {func(r *Release) { r.Sensitivity.Private, r.Sensitivity.PrivateRows = 0, nil }, ""},
		"background":         {func(r *Release) { background(r, 1, 0.5) }, ""},
		"no radius":          {func(r *Release) { background(r, 0, 0.5) }, "query.radius"},
		"radius 3":           {func(r *Release) { background(r, 3, 0.5) }, "query.radius"},
		"no background":      {func(r *Release) { background(r, 1, 0) }, "query.background"},
		"background 2":       {func(r *Release) { background(r, 1, 2) }, "query.background"},
		"background NaN":     {func(r *Release) { background(r, 1, math.NaN()) }, "query.background"},
		"public labels":      {func(r *Release) { r.Labels = Labels{Mode: ModePublic} }, ""},
		"public, no nil":     {func(r *Release) { r.Labels = Labels{Mode: ModePublic, Values: []int32{}} }, ""},
		"public, values":     {func(r *Release) { r.Labels.Mode, r.Labels.Epsilon = ModePublic, 0 }, "labels.values"},
		"dropped, epsilon":   {func(r *Release) { r.Labels = Labels{Mode: ModeDropped, Epsilon: 1} }, "labels.epsilon"},
		"dropped, no number": {func(r *Release) { r.Labels = Labels{Mode: ModeDropped, Epsilon: math.NaN()} }, "labels.epsilon"},
		"no ledger":          {func(r *Release) { r.Ledger = 0 }, ""},
		"size overflows":     {func(r *Release) { r.Rows, r.Columns = math.MaxInt, math.MaxInt }, "columns"},
		"size wraps to zero": {func(r *Release) { r.Rows, r.Columns = 1<<(bitsOfInt/2), 1<<(bitsOfInt/2) }, "columns"},
		"step and a half":    {func(r *Release) { r.Step *= 1.5; r.Privacy.Sigma *= 1.5 }, "step"},
		"fine grid":          {func(r *Release) { r.Step /= 4; r.Multiple *= 4 }, "multiple"},
		"coarse grid":        {func(r *Release) { r.Step *= 2; r.Multiple, r.Privacy.Sigma = 1<<39, r.Step*(1<<39) }, "multiple"},
		"nothing":            {func(r *Release) { *r = Release{} }, "id"},
	}
	for name, c := range cases {
		r := sample()
		c.change(r)
		err := r.Check()
		if c.field == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Field != c.field {
			t.Errorf("%s: %v, want an error about %s", name, err, c.field)
		}
	}
}

// knownRow turns r into the release of one private row among public ones.
func knownRow(r *Release, rows ...int32) {
	r.Sensitivity.Derivation = "theorem-2"
	r.Sensitivity.Private, r.Sensitivity.PrivateRows = len(rows), rows
}

func background(r *Release, radius, weight float64) {
	r.Sensitivity.Derivation, r.Sensitivity.Operator = "background", "background"
	r.Query.Radius, r.Query.Background = radius, weight
}

const bitsOfInt = 32 << (^uint(0) >> 63)

// The least numbers that pass are the exact ones rounded up, not to nearest:
// one digit less in any of them is refused.
func TestCheckRoundsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := arbitrary(t)
		r.Sensitivity.GridError = r.Step // as for one entry
		if r.Rows*r.Columns > 1 && r.Check() == nil {
			t.Fatal("a grid error without the root of the number of entries passes")
		}
		for _, p := range []func(*Release) *float64{
			func(r *Release) *float64 { return &r.Privacy.Mu },
			func(r *Release) *float64 { return &r.Privacy.Rho },
			func(r *Release) *float64 { return &r.Sensitivity.Total },
			func(r *Release) *float64 { return &r.Sensitivity.GridError },
		} {
			r := arbitrary(t)
			x := p(r)
			*x = math.Nextafter(math.Nextafter(math.Nextafter(math.Nextafter(*x, 0), 0), 0), 0)
			if r.Check() == nil {
				t.Fatal("a number below the exact one passes")
			}
		}
	})
}

// The names are those of package sensitivity.
func TestNamesOfSensitivity(t *testing.T) {
	for i, name := range relations {
		if got := sensitivity.Relation(i + 1).String(); got != name {
			t.Errorf("relation %d is %s there and %s here", i+1, got, name)
		}
	}
	if beyond := sensitivity.Relation(len(relations) + 1); !strings.HasPrefix(beyond.String(), "Relation(") {
		t.Errorf("relation %s is missing", beyond)
	}
	q := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{0, 1, 3}}
	query := sensitivity.Query{Operator: sensitivity.Full{}, Sigma: 2, Alpha: 0.5, Table: sensitivity.Gaussian{Classes: 2, Sigma: 2}}
	tight := func(operator sensitivity.Operator) (sensitivity.Bound, error) {
		other := query
		other.Operator = operator
		return other.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
	}
	scalar := func() (sensitivity.Bound, error) {
		norms, err := sensitivity.Measure(q)
		if err != nil {
			return sensitivity.Bound{}, err
		}
		return query.Scalar(sensitivity.ReplaceOne, norms)
	}
	known := func() (sensitivity.Bound, error) {
		features := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, -1}}
		return query.Known(t.Context(), sensitivity.ReplaceOne, q, sensitivity.Public{Features: features, Labels: []int32{0, 1}}, nil)
	}
	corrected := func() (sensitivity.Bound, error) {
		b, err := query.Corrected(sensitivity.Null, q)
		return b.Bound, err
	}
	found := map[string]bool{}
	for _, bound := range []func() (sensitivity.Bound, error){
		func() (sensitivity.Bound, error) { return tight(sensitivity.Full{}) },
		func() (sensitivity.Bound, error) { return tight(sensitivity.Floor{Tau: 1}) },
		func() (sensitivity.Bound, error) { return tight(sensitivity.Midpoint(2, 1)) },
		scalar, known, corrected,
	} {
		b, err := bound()
		if err != nil {
			t.Fatal(err)
		}
		found[b.Derivation()] = true
		if derivations[b.Derivation()] != b.Operator().Kind() {
			t.Errorf("%s is for %q here", b.Derivation(), derivations[b.Derivation()])
		}
	}
	if len(found) != len(derivations) {
		t.Errorf("derivations %v, of %v", found, derivations)
	}
}

// A release must not claim an epsilon and delta that its mu does not give.
func TestCheckComparesTheClaim(t *testing.T) {
	for _, claim := range []Privacy{{Epsilon: 1e-6, Delta: 1e-100}, {Epsilon: 0.5, Delta: 1e-5}, {Epsilon: 1, Delta: 1e-6}} {
		r := sample()
		r.Privacy.Epsilon, r.Privacy.Delta = claim.Epsilon, claim.Delta
		wantError(t, r.Check(), ErrRelease)
	}
}
