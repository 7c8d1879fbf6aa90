package release

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
)

func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// finish sets the numbers that follow from others, as calibration does with the
// noise multiplier c.
func finish(r *Release, c float64) *Release {
	s, p := &r.Sensitivity, &r.Privacy
	_, exponent := math.Frexp(c * (s.Bound + 2*s.OperatorError))
	r.Step = math.Ldexp(1, exponent-1-40)
	s.GridError = up(r.Step * math.Sqrt(float64(r.Rows*r.Columns)))
	s.Total = up(up(s.Bound+2*s.OperatorError) + s.GridError)
	r.Multiple = int64(math.Ceil(c * s.Total / r.Step))
	p.Sigma = float64(r.Multiple) * r.Step
	p.Mu = up(s.Total / p.Sigma)
	p.Rho = up(p.Mu * p.Mu / 2)
	return r
}

// sample is a release of five rows with randomised labels. c belongs to epsilon
// 1 and delta 1e-5.
func sample() *Release {
	return finish(&Release{
		ID:        [16]byte{0x5e, 0xed, 3: 7, 15: 0xff},
		Mechanism: terms.RoundedGaussian,
		Rows:      5, Columns: 2,
		Grid:        []int64{0, 1, -1, gridLimit, -gridLimit, 1<<51 + 3, -(1 << 42), 987654321987, 5, -17},
		Privacy:     Privacy{Epsilon: 1, Delta: 1e-5, Rule: terms.RuleAnalytic},
		Sensitivity: Sensitivity{Bound: 1.25, OperatorError: 1e-9, Norm: terms.NormFrobenius, Derivation: "theorem-1", Relation: "replace-one", Operator: "full", Private: 2, PrivateRows: []int32{0, 3}, Records: 1},
		Query:       Query{Sigma: 6, Alpha: -0.1, Table: "equal", Classes: 3, SigmaQ: 0.3, Seed: math.MaxUint64},
		Labels:      Labels{Mode: ModeRandomised, Epsilon: 0.5, Values: []int32{2, 0, 1, 1, 2}},
		Unit:        UnitRecord, Ledger: 1 << 60,
	}, 3.7306316348)
}

// arbitrary draws any release that Check accepts.
func arbitrary(t *rapid.T) *Release {
	r := sample()
	copy(r.ID[1:], rapid.SliceOfN(rapid.Byte(), 15, 15).Draw(t, "id"))
	r.Rows, r.Columns = rapid.IntRange(2, 9).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "columns")
	r.Grid = rapid.SliceOfN(rapid.Int64Range(-gridLimit, gridLimit), r.Rows*r.Columns, r.Rows*r.Columns).Draw(t, "grid")
	positive := func(name string, least, most float64) float64 {
		return math.Exp(rapid.Float64Range(math.Log(least), math.Log(most)).Draw(t, name))
	}
	r.Privacy.Epsilon = min(max(positive("epsilon", 1e-6, 100), 1e-6), 100)
	r.Privacy.Delta = min(max(positive("delta", 1e-100, 0.1), 1e-100), 0.1)
	if r.Privacy.Epsilon < 1 {
		r.Privacy.Rule = rapid.SampledFrom([]string{terms.RuleAnalytic, terms.RuleClassical}).Draw(t, "rule")
	}
	r.Sensitivity.Bound = positive("bound", 1e-200, 1e200)
	r.Sensitivity.OperatorError = r.Sensitivity.Bound * positive("error", 1e-20, 1)
	r.Sensitivity.Derivation = rapid.SampledFrom([]string{"theorem-1", "theorem-2", "corrected", "background", "degree-floor", "theorem-1-scalar"}).Draw(t, "derivation")
	r.Sensitivity.Operator = derivations[r.Sensitivity.Derivation]
	r.Sensitivity.Relation = rapid.SampledFrom(relations).Draw(t, "relation")
	if r.Sensitivity.Derivation == "theorem-1" && r.Sensitivity.Relation == "replace-one" {
		r.Sensitivity.Records = rapid.IntRange(1, r.Rows).Draw(t, "records")
	}
	rows := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(r.Rows-1)), 0, r.Rows, rapid.ID[int32]).Draw(t, "private rows")
	if r.Sensitivity.Derivation == "theorem-2" {
		rows = []int32{int32(r.Rows - 1)}
	}
	slices.Sort(rows)
	r.Sensitivity.Private, r.Sensitivity.PrivateRows = len(rows), nil
	if len(rows) > 0 {
		r.Sensitivity.PrivateRows = rows
	}
	r.Query = Query{
		Sigma:   positive("width", 1e-300, 1e300),
		Alpha:   rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "alpha"),
		Table:   rapid.SampledFrom(tables).Draw(t, "table"),
		Classes: rapid.IntRange(1, math.MaxInt32).Draw(t, "classes"),
		SigmaQ:  positive("start", 5e-324, 1e300),
		Seed:    rapid.Uint64().Draw(t, "seed"),
	}
	if r.Sensitivity.Operator == "background" {
		r.Query.Radius, r.Query.Background = rapid.Float64Range(1e-9, 2).Draw(t, "radius"), rapid.Float64Range(1e-300, 1).Draw(t, "background")
	}
	r.Labels = Labels{Mode: rapid.SampledFrom([]string{ModePublic, ModeDropped, ModeRandomised}).Draw(t, "mode")}
	if r.Labels.Mode == ModeRandomised {
		r.Labels.Epsilon = positive("label epsilon", 1e-5, 99)
		r.Labels.Values = rapid.SliceOfN(rapid.Int32Range(0, int32(r.Query.Classes-1)), r.Rows, r.Rows).Draw(t, "labels")
	}
	r.Unit = rapid.SampledFrom([]string{UnitRecord, UnitClient}).Draw(t, "unit")
	r.Ledger = rapid.Uint64().Draw(t, "ledger")
	// Enough for the epsilon and delta: rho + 2 sqrt(rho ln(1/delta)) <= epsilon.
	l := -math.Log(r.Privacy.Delta)
	enough := (math.Sqrt(r.Privacy.Epsilon+l) + math.Sqrt(l)) / (math.Sqrt2 * r.Privacy.Epsilon)
	return finish(r, enough*positive("multiplier", 1, 1e3))
}

func mustBinary(t testing.TB, r *Release) []byte {
	t.Helper()
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustJSON(t testing.TB, r *Release) []byte {
	t.Helper()
	b, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decoders are all decoding functions, by form.
var (
	binaryDecoders = map[string]func([]byte) (*Release, error){
		"UnmarshalBinary": func(b []byte) (*Release, error) { r := new(Release); return r, r.UnmarshalBinary(b) },
		"Read":            func(b []byte) (*Release, error) { return Read(bytes.NewReader(b)) },
	}
	jsonDecoders = map[string]func([]byte) (*Release, error){
		"UnmarshalJSON": func(b []byte) (*Release, error) { r := new(Release); return r, r.UnmarshalJSON(b) },
		"Read":          func(b []byte) (*Release, error) { return Read(bytes.NewReader(b)) },
	}
)

// is reports whether err is an *Error of exactly this kind.
func is(err, kind error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Err == kind
}

// wantError checks that err is an *Error of this kind, and matches ErrRelease or ErrLabels.
func wantError(t *testing.T, err, kind error) {
	t.Helper()
	if !is(err, kind) || err.Error() == "" || errors.Is(err, ErrRelease) == errors.Is(err, ErrLabels) {
		t.Errorf("error %v (%T), want an *Error that is %q", err, err, kind)
	}
}

// known reports whether err is an *Error around ErrRelease.
func known(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok && errors.Is(err, ErrRelease)
}

// allocated returns the bytes f takes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// leaves calls f with the path and value of every field, including nested ones.
func leaves(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	if v.Kind() != reflect.Struct {
		f(path, v)
		return
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if path != "" {
			name = path + "." + name
		}
		leaves(v.Field(i), name, f)
	}
}
