package sensitivity

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestBoundSaysWhatItIs(t *testing.T) {
	b, err := exampleQuery.Tight(ReplaceOne, exampleQ, Rows{})
	if err != nil {
		t.Fatal(err)
	}
	rows, columns := b.Size()
	if !b.Valid() || b.Relation() != ReplaceOne || b.Operator() != (Full{}) || b.Derivation() != byTheorem1 || rows != 4 || columns != 2 ||
		b.row != 3 || b.ErrorStated() || b.Eta() != 0 || b.Value() != b.Exact() || b.Query() != exampleQuery {
		t.Errorf("%+v", b)
	}
	if s := b.String(); !strings.Contains(s, "replace-one, full kernel, theorem-1") {
		t.Errorf("%q", s)
	}
	if s := (Bound{}).String(); s != "no bound" || (Bound{}).Valid() {
		t.Errorf("zero bound: %q", s)
	}
	if r := b.Rows(); r.Private != nil || r.Released != nil {
		t.Errorf("rows %v", r)
	}
	b.Assumptions()[0] = ""
	if b.Assumptions()[0] != publicParameters {
		t.Error("a caller changed the assumptions")
	}

	subset := Rows{Private: []int{1}, Released: []int{0, 1}}
	floor, back := exampleQuery, exampleQuery
	floor.Operator, back.Operator = Floor{1}, Midpoint(1, 1)
	size := exampleQuery
	size.Table = ClassSize{}
	make1 := func(rel Relation, q Query, r Rows) Bound {
		b, err := q.Tight(rel, exampleQ, r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	known, err := exampleQuery.Known(context.Background(), FeaturesReplace, exampleQ, examplePublic, nil)
	if err != nil {
		t.Fatal(err)
	}
	corrected, err := exampleQuery.Corrected(Null, exampleQ)
	if err != nil {
		t.Fatal(err)
	}
	norms, _ := Measure(exampleQ)
	scalar, err := exampleQuery.Scalar(FeaturesNull, norms)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		b    Bound
		d    string
		want []string
	}{
		{b, byTheorem1, []string{publicParameters, unitBall, fixedTable, labelsInRange}},
		{make1(Null, exampleQuery, subset), byTheorem1, []string{publicParameters, unitOrNullRows, fixedTable, labelsInRange, publicRows}},
		{make1(FeaturesReplace, floor, Rows{}), byFloor, []string{publicParameters, unitBall, fixedTable, labelsInRange, publicLabel, pairwiseWeights}},
		{make1(FeaturesNull, back, Rows{}), byBackground, []string{publicParameters, unitOrNullRows, fixedTable, labelsInRange, publicLabel, pairwiseWeights}},
		{make1(ReplaceOne, size, Rows{}), byTheorem1s, []string{publicParameters, unitBall}},
		{known, byTheorem2, []string{publicParameters, unitOrNullRows, fixedTable, labelsInRange, publicLabel, publicRest}},
		{corrected.Bound, byCorrected, []string{publicParameters, unitOrNullRows, fixedTable, labelsInRange}},
		{scalar, byTheorem1Scalar, []string{publicParameters, unitOrNullRows, fixedTable, labelsInRange, publicLabel}},
	} {
		if c.b.Derivation() != c.d || !slices.Equal(c.b.Assumptions(), c.want) {
			t.Errorf("%v: %v %v, want %v %v", c.b, c.b.Derivation(), c.b.Assumptions(), c.d, c.want)
		}
	}
	if r := known.Rows(); !slices.Equal(r.Private, []int{3}) || known.row != 3 {
		t.Errorf("known row: %v, %d", r, known.row)
	}
	// The caller's list is not kept.
	list := []int{0, 1}
	b = make1(Null, exampleQuery, Rows{Released: list})
	list[0] = 2
	if b.Rows().Released[0] != 0 {
		t.Error("the bound keeps the caller's slice")
	}
	for rel := ReplaceOne; rel <= FeaturesNull; rel++ {
		if got, err := RelationByName(rel.String()); got != rel || err != nil {
			t.Errorf("%v: %v, %v", rel, got, err)
		}
	}
	for _, k := range []struct {
		o    Operator
		want string
	}{{Full{}, "full"}, {Floor{}, "floor"}, {Background{}, "background"}, {Truncated{}, "truncated"}} {
		if k.o.Kind() != k.want {
			t.Errorf("%v: %q", k.o, k.o.Kind())
		}
	}
}

// Nothing but this package makes a Bound, and the paper's constant is not one.
func TestComparisonIsNoBound(t *testing.T) {
	bound := reflect.TypeFor[Bound]()
	for i := range bound.NumField() {
		if bound.Field(i).IsExported() {
			t.Errorf("Bound.%s can be set from outside", bound.Field(i).Name)
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[Comparison](), reflect.TypeFor[*Comparison](), reflect.TypeFor[Eta](), reflect.TypeFor[Norms]()} {
		if typ.ConvertibleTo(bound) || typ.AssignableTo(bound) {
			t.Errorf("%v converts to Bound", typ)
		}
		for i := range typ.NumMethod() {
			m := typ.Method(i).Type
			for j := range m.NumOut() {
				if m.Out(j) == bound {
					t.Errorf("%v.%s returns a Bound", typ, typ.Method(i).Name)
				}
			}
		}
	}
}

func TestInflate(t *testing.T) {
	b, err := exampleQuery.Tight(ReplaceOne, exampleQ, Rows{})
	if err != nil {
		t.Fatal(err)
	}
	entry, err := exampleQuery.EntryError(exampleQ, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	// E = 1/2 e0 (N/(n l)) (1 + (1+e0)/(l-e0)) F, alpha U < 1.
	l := math.Exp(-2)
	near(t, "E", entry.Value()/roundUp, 0.5*1e-3*4/(3*l)*(1+1.001/(l-1e-3))*2.25693376066)
	rounding, err := exampleQuery.RoundingError(exampleQ, Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := entry.Plus(rounding)
	if err != nil {
		t.Fatal(err)
	}
	if v := entry.Value() + rounding.Value(); sum.Value() < v || sum.Value() > v*(1+1e-8) {
		t.Errorf("sum of errors %g, want %g", sum.Value(), v)
	}
	c, err := b.Inflate(sum)
	if err != nil {
		t.Fatal(err)
	}
	if !c.ErrorStated() || c.Exact() != b.Exact() || c.Eta() != sum.Value() || c.Value() < b.Exact()+2*sum.Value() || c.Value() > (b.Exact()+2*sum.Value())*(1+1e-15) {
		t.Errorf("inflated to %.17g, eta %.17g", c.Value(), c.Eta())
	}
	if b.ErrorStated() {
		t.Error("Inflate changed its receiver")
	}
	// A zero error counts when it is derived.
	zero, err := exampleQuery.EntryError(exampleQ, 0)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := b.Inflate(zero); err != nil || !c.ErrorStated() || c.Value() != b.Value() {
		t.Errorf("%v, %v", c, err)
	}
	// A bound from norms takes the error of the same Q.
	norms, _ := Measure(exampleQ)
	scalar, err := exampleQuery.Scalar(ReplaceOne, norms)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scalar.Inflate(sum); err != nil {
		t.Error(err)
	}
	// Larger factors where the matrices are not positive semidefinite.
	negative := exampleQuery
	negative.Alpha = -0.6
	e2, _ := negative.EntryError(exampleQ, 1e-3)
	near(t, "E, alpha < 0", e2.Value()/roundUp, 0.5*1e-3*4/(3*l)*(1+1.601/(l-1e-3))*2.25693376066)
	signed := exampleQuery
	signed.Table = Range{-0.5, 0.25}
	e3, _ := signed.EntryError(exampleQ, 1e-3)
	near(t, "E, signed table", e3.Value()/roundUp, 0.5*1e-3*4/(3*l)*(1+1.301/(l-1e-3))*2.25693376066)
	large := exampleQuery
	large.Alpha = 5
	e4, _ := large.EntryError(exampleQ, 1e-3)
	near(t, "E, large alpha", e4.Value()/roundUp, 0.5*1e-3*4/(3*l)*(1+5/(l-1e-3))*2.25693376066)

	other, _ := exampleQuery.RoundingError(scaled(exampleQ, 2), Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2})
	// The same centred Q at another place has other rounding errors, a table of the
	// same name may have other entries, and the norms exclude a larger Q.
	shifted := clone(exampleQ)
	for i := range shifted.Data {
		shifted.Data[i] += 1024
	}
	moved, err := exampleQuery.RoundingError(shifted, Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2})
	if err != nil {
		t.Fatal(err)
	}
	named := func(v float64) Query {
		q := exampleQuery
		q.Table = Values{Name: "same", Classes: 2, Weight: func(a, b int32) float64 { return v }}
		return q
	}
	valued, err := named(1).Tight(ReplaceOne, exampleQ, Rows{})
	if err != nil {
		t.Fatal(err)
	}
	small, err := named(0.5).RoundingError(exampleQ, Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2})
	if err != nil {
		t.Fatal(err)
	}
	narrow := norms
	narrow.Spectral, narrow.Radius, narrow.Distance = norms.Spectral*0.9, norms.Radius*0.9, norms.Radius*0.9
	tooSmall, err := exampleQuery.Scalar(ReplaceOne, narrow)
	if err != nil {
		t.Fatal(err)
	}
	wide := norms
	wide.Frobenius, wide.Spectral = 2*norms.Frobenius, 2*norms.Spectral
	roomy, err := exampleQuery.Scalar(ReplaceOne, wide)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := roomy.Inflate(sum); err != nil {
		t.Errorf("larger norms: %v", err)
	}
	for name, err := range map[string]error{
		"shifted Q":     second(b.Inflate(moved)),
		"shifted sum":   second(sum.Plus(moved)),
		"other entries": second(valued.Inflate(small)),
		"other norms":   second(tooSmall.Inflate(sum)),
		"no error":      second(b.Inflate(Eta{})),
		"no bound":      second(Bound{}.Inflate(sum)),
		"twice":         second(c.Inflate(sum)),
		"other query":   second(b.Inflate(e2)),
		"other Q":       second(b.Inflate(other)),
		"sum of others": second(sum.Plus(other)),
		"sum with none": second(sum.Plus(Eta{})),
	} {
		if !errors.Is(err, errMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Group(2); !errors.Is(err, errGroup) {
		t.Errorf("group after inflating: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
