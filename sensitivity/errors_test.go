package sensitivity

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

func with(change func(q *Query)) Query {
	q := Query{Operator: Full{}, Sigma: 1, Alpha: 0.6, Table: Gaussian{Classes: 4, Sigma: 1}}
	change(&q)
	return q
}

// Every case that is not proved is refused, each with its own error.
func TestRefusals(t *testing.T) {
	ok := with(func(*Query) {})
	nan, inf := math.NaN(), math.Inf(1)
	tight := func(q Query) error { _, err := q.Tight(ReplaceOne, exampleQ, Rows{}); return err }
	start := func(m blas64.General) error { _, err := ok.Tight(ReplaceOne, m, Rows{}); return err }
	rows := func(r Rows) error { _, err := ok.Tight(ReplaceOne, exampleQ, r); return err }
	known := func(change func(q *Query, p *Public)) error {
		q, p := ok, examplePublic
		change(&q, &p)
		_, err := q.Known(context.Background(), FeaturesReplace, exampleQ, p, nil)
		return err
	}
	known1 := func(m blas64.General) error {
		_, err := ok.Known(context.Background(), FeaturesReplace, matrix(1, 0, 1), Public{Features: m, Labels: []int32{0}}, nil)
		return err
	}
	paper := func(q Query, m blas64.General) error { _, err := q.Paper(m); return err }
	corrected := func(r Relation, q Query) error { _, err := q.Corrected(r, exampleQ); return err }
	scalar := func(m Norms) error { _, err := ok.Scalar(ReplaceOne, m); return err }
	entry := func(q Query, e float64) error { _, err := q.EntryError(exampleQ, e); return err }
	rounding := func(a Arithmetic) error { _, err := ok.RoundingError(exampleQ, a); return err }
	operator := func(o Operator) Query { return with(func(q *Query) { q.Operator = o }) }
	table := func(t Table) Query { return with(func(q *Query) { q.Table = t }) }
	sigma := func(s float64) Query { return with(func(q *Query) { q.Sigma = s }) }
	asymmetric := Values{Name: "odd", Classes: 2, Weight: func(a, b int32) float64 { return float64(a - b) }}
	undefinedValues := Values{Name: "nan", Classes: 2, Weight: func(a, b int32) float64 { return nan }}

	for name, c := range map[string]struct{ err, want error }{
		// n < 1, k < 1, sigma <= 0, c < 0, any NaN or infinity, Q not N x k.
		"one row":             {start(matrix(2, 1, 2)), ErrShape},
		"no rows":             {start(blas64.General{Cols: 2, Stride: 2}), ErrShape},
		"no columns":          {start(blas64.General{Rows: 3, Stride: 1}), ErrShape},
		"negative rows":       {start(blas64.General{Rows: -3, Cols: 1, Stride: 1}), ErrShape},
		"short data":          {start(blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float64, 5)}), ErrShape},
		"no data":             {start(blas64.General{Rows: 3, Cols: 2, Stride: 2}), ErrShape},
		"short stride":        {start(blas64.General{Rows: 3, Cols: 2, Stride: 1, Data: make([]float64, 6)}), ErrShape},
		"NaN in Q":            {start(matrix(1, 0, nan, 1)), ErrNonFinite},
		"infinity in Q":       {start(matrix(1, 0, inf, 1)), ErrNonFinite},
		"sigma 0":             {tight(sigma(0)), errBandwidth},
		"sigma < 0":           {tight(sigma(-6)), errBandwidth},
		"sigma NaN":           {tight(sigma(nan)), errBandwidth},
		"sigma infinite":      {tight(sigma(inf)), errBandwidth},
		"sigma of labels 0":   {tight(table(Gaussian{Classes: 2})), errBandwidth},
		"floor, sigma 0":      {tight(Query{Operator: Floor{1}, Alpha: 1, Table: Equal{2}}), errBandwidth},
		"alpha NaN":           {tight(with(func(q *Query) { q.Alpha = nan })), errCoefficient},
		"alpha infinite":      {tight(with(func(q *Query) { q.Alpha = -inf })), errCoefficient},
		"no classes":          {tight(table(Gaussian{Sigma: 1})), errTable},
		"no classes, equal":   {tight(table(Equal{})), errTable},
		"no classes, differ":  {tight(table(Different{-1})), errTable},
		"no classes, values":  {tight(table(Values{Weight: asymmetric.Weight})), errTable},
		"no values":           {tight(table(Values{Classes: 2})), errTable},
		"asymmetric values":   {tight(table(asymmetric)), errTable},
		"NaN values":          {tight(table(undefinedValues)), errTable},
		"range reversed":      {tight(table(Range{1, 0})), errTable},
		"range NaN":           {tight(table(Range{nan, 0})), errTable},
		"range infinite":      {tight(table(Range{0, inf})), errTable},
		"no table":            {tight(table(nil)), errTable},
		"no operator":         {tight(operator(nil)), errOperator},
		"operator by pointer": {tight(operator(&Background{1, 0.5})), errOperator},
		"nil operator":        {tight(operator((*Full)(nil))), errOperator},
		"table by pointer":    {tight(table(&ClassSize{})), errTable},
		"nil table":           {tight(table((*Equal)(nil))), errTable},
		"too many values":     {tight(table(Values{Name: "many", Classes: math.MaxInt32, Weight: func(a, b int32) float64 { return 1 }})), errTable},
		"Delta overflows":     {tight(with(func(q *Query) { q.Alpha = 1e308; q.Sigma = 0.2 })), errUnrepresentable},
		"Delta underflows":    {start(scaled(exampleQ, 0x1p-1040)), errUnrepresentable},
		"differences of Q":    {start(matrix(1, math.MaxFloat64, -math.MaxFloat64)), errUnrepresentable},
		"wide bandwidth":      {tight(sigma(1e160)), errUnrepresentable},
		"scalar, one row":     {scalar(Norms{Rows: 1, Frobenius: 1, Spectral: 1, Radius: 1}), ErrShape},
		"scalar, NaN":         {scalar(Norms{Rows: 2, Frobenius: nan}), ErrNonFinite},
		"scalar, negative":    {scalar(Norms{Rows: 2, Frobenius: 1, Spectral: 1, Radius: 1, Distance: -1}), errNorms},
		"scalar, order":       {scalar(Norms{Rows: 2, Frobenius: 1, Spectral: 2, Radius: 1}), errNorms},
		"scalar, radius":      {scalar(Norms{Rows: 2, Frobenius: 1, Spectral: 1, Radius: 1.1}), errNorms},
		"scalar, distance":    {scalar(Norms{Rows: 2, Frobenius: 1, Spectral: 1, Radius: 0.9, Distance: 1}), errNorms},
		"relation missing":    {func() error { _, err := ok.Tight(0, exampleQ, Rows{}); return err }(), ErrRelation},
		"relation unknown":    {func() error { _, err := ok.Scalar(5, Norms{}); return err }(), ErrRelation},
		"relation of Known":   {func() error { _, err := ok.Known(context.Background(), 0, exampleQ, examplePublic, nil); return err }(), ErrRelation},
		"private row":         {rows(Rows{Private: []int{4}}), errRow},
		"private row < 0":     {rows(Rows{Private: []int{-1}}), errRow},
		"private rows empty":  {rows(Rows{Private: []int{}}), errRow},
		"released row":        {rows(Rows{Released: []int{4}}), errRow},
		"released twice":      {rows(Rows{Released: []int{1, 1}}), errRow},
		"released rows empty": {rows(Rows{Released: []int{}}), errRow},
		// Label tables that depend on the data.
		"double-centred":    {tight(table(DataDependent{"centred"})), ErrNoBound},
		"class size, floor": {tight(Query{Operator: Floor{1}, Sigma: 1, Alpha: 1, Table: ClassSize{}}), ErrNoBound},
		"class size, known": {known(func(q *Query, _ *Public) { q.Table = ClassSize{} }), ErrNoBound},
		"centred, known":    {known(func(q *Query, _ *Public) { q.Table = DataDependent{"centred"} }), ErrNoBound},
		"class size, paper": {paper(table(ClassSize{}), exampleQ), ErrNoBound},
		"range, known":      {known(func(q *Query, _ *Public) { q.Table = Range{0, 1} }), errTable},
		// 2/sigma^2 > 700.
		"l underflows":  {tight(sigma(0.0534)), errUnrepresentable},
		"l, background": {tight(Query{Operator: Background{1, 0.5}, Sigma: 0.05, Table: Equal{2}}), errUnrepresentable},
		"l, known":      {known(func(q *Query, _ *Public) { q.Sigma = 0.0534 }), errUnrepresentable},
		"l, paper":      {paper(sigma(0.0534), exampleQ), errUnrepresentable},
		// Labels and norms of public rows.
		"label too large":     {known(func(_ *Query, p *Public) { p.Labels = []int32{0, 4, 2} }), ErrLabels},
		"label negative":      {known(func(_ *Query, p *Public) { p.Labels = []int32{0, -1, 2} }), ErrLabels},
		"labels missing":      {known(func(_ *Query, p *Public) { p.Labels = nil }), ErrLabels},
		"own label":           {known(func(_ *Query, p *Public) { p.Label = 4 }), ErrLabels},
		"own label negative":  {known(func(_ *Query, p *Public) { p.Label = -1 }), ErrLabels},
		"not a unit row":      {known(func(_ *Query, p *Public) { p.Features = scaled(p.Features, 1+2e-6) }), errUnitRow},
		"shorter than unit":   {known(func(_ *Query, p *Public) { p.Features = scaled(p.Features, 1-2e-6) }), errUnitRow},
		"null public row":     {known(func(_ *Query, p *Public) { p.Features = scaled(p.Features, 0) }), errUnitRow},
		"public rows missing": {known(func(_ *Query, p *Public) { p.Features = exampleX }), ErrShape},
		"short public row":    {known1(blas64.General{Rows: 1, Cols: 4, Stride: 10, Data: make([]float64, 3)}), ErrShape},
		"NaN in features":     {known(func(_ *Query, p *Public) { p.Features = matrix(2, 1, 0, 0, 1, nan, 0) }), ErrNonFinite},
		"row r":               {known(func(_ *Query, p *Public) { p.Row = 4 }), errRow},
		"known, background":   {known(func(q *Query, _ *Public) { q.Operator = Midpoint(1, 1) }), ErrNoBound},
		"known, floor":        {known(func(q *Query, _ *Public) { q.Operator = Floor{1} }), ErrNoBound},
		// Paper constant.
		"paper undefined":     {paper(sigma(1), exampleQ), errPaperUndefined},
		"paper, alpha < 0":    {paper(with(func(q *Query) { q.Sigma = 6; q.Alpha = -1 }), exampleQ), ErrNoBound},
		"paper, truncated":    {paper(operator(Truncated{1}), exampleQ), ErrNoBound},
		"paper, background":   {paper(operator(Midpoint(1, 1)), exampleQ), ErrNoBound},
		"paper, table":        {paper(table(Range{-1, 1}), exampleQ), ErrNoBound},
		"paper, table > 1":    {paper(table(Range{0, 2}), exampleQ), ErrNoBound},
		"paper, one row":      {paper(sigma(6), matrix(1, 1)), ErrShape},
		"paper, NaN":          {paper(sigma(6), matrix(1, 1, nan)), ErrNonFinite},
		"corrected, relation": {corrected(ReplaceOne, ok), ErrRelation},
		"corrected, none":     {corrected(0, ok), ErrRelation},
		"corrected, alpha":    {corrected(Null, with(func(q *Query) { q.Alpha = -1 })), ErrNoBound},
		// Truncated kernel, floor, background.
		"truncated":        {tight(operator(Truncated{1})), ErrNoBound},
		"floor 0":          {tight(operator(Floor{})), errFloor},
		"floor < 0":        {tight(operator(Floor{-1})), errFloor},
		"floor NaN":        {tight(operator(Floor{nan})), errFloor},
		"floor infinite":   {tight(operator(Floor{inf})), errFloor},
		"radius 0":         {tight(operator(Background{0, 0.5})), errBackground},
		"radius < 0":       {tight(operator(Background{-1, 0.5})), errBackground},
		"radius > 2":       {tight(operator(Background{2.1, 0.1354})), errBackground},
		"radius NaN":       {tight(operator(Background{nan, 0.5})), errBackground},
		"no background":    {tight(operator(Background{Radius: 1})), errBackground},
		"background large": {tight(operator(Background{1, 0.61})), errBackground},
		"background small": {tight(operator(Background{1, 0.13})), errBackground},
		"background NaN":   {tight(operator(Background{1, nan})), errBackground},
		// Delta = 0.
		"rows of Q equal":  {start(matrix(2, 1, 2, 1, 2, 1, 2)), errDegenerate},
		"equal, corrected": {func() error { _, err := ok.Corrected(Null, matrix(1, 3, 3)); return err }(), errDegenerate},
		"scalar, tiny":     {scalar(Norms{Rows: 2, Frobenius: 1e-310, Spectral: 1e-310}), errUnrepresentable},
		"equal, scalar":    {scalar(Norms{Rows: 2}), errDegenerate},
		"equal, measure":   {func() error { _, err := Measure(matrix(1, 3, 3)); return err }(), errDegenerate},
		"nothing changes": {func() error {
			_, err := with(func(q *Query) { q.Alpha = 0 }).Tight(ReplaceOne, matrix(1, 0, 1), Rows{Private: []int{0}, Released: []int{1}})
			return err
		}(), errDegenerate},
		// Errors of operators.
		"entry < 0":        {entry(ok, -1e-9), errEntryError},
		"entry NaN":        {entry(ok, nan), errEntryError},
		"entry of l":       {entry(ok, math.Exp(-2)), errEntryError},
		"entry next to l":  {entry(ok, 0.9999*math.Exp(-2)), errEntryError},
		"entry, floor":     {entry(operator(Floor{1}), 1e-9), ErrNoBound},
		"entry, truncated": {entry(operator(Truncated{1}), 1e-9), ErrNoBound},
		"entry, table":     {entry(table(DataDependent{"centred"}), 1e-9), ErrNoBound},
		"moments, floor": {func() error {
			_, err := operator(Floor{1}).RoundingError(matrix(1, 1, 2, 3), Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2, Relative: 1e-12})
			return err
		}(), errEntryError},
		"relative < 0":        {rounding(Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2, Relative: -1}), errEntryError},
		"relative NaN":        {rounding(Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2, Relative: nan}), errEntryError},
		"relative large":      {rounding(Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2, Relative: 0.1}), errEntryError},
		"roundoff 0":          {rounding(Arithmetic{Dimension: 2}), errEntryError},
		"roundoff NaN":        {rounding(Arithmetic{UnitRoundoff: nan, Dimension: 2}), errEntryError},
		"roundoff large":      {rounding(Arithmetic{UnitRoundoff: 0.1, Dimension: 2}), errEntryError},
		"roundoff, sums":      {rounding(Arithmetic{UnitRoundoff: 0x1p-8, Dimension: 1 << 20}), errEntryError},
		"no dimension":        {rounding(Arithmetic{UnitRoundoff: 0x1p-53}), errEntryError},
		"displacement":        {func() error { _, err := operator(Truncated{1}).Displacement(exampleQ); return err }(), ErrNoBound},
		"displacement, floor": {func() error { _, err := operator(Floor{}).Displacement(exampleQ); return err }(), errFloor},
		"displacement, Q":     {func() error { _, err := ok.Displacement(matrix(1, nan, 1)); return err }(), ErrNonFinite},
		"relation name":       {func() error { _, err := RelationByName("add-remove"); return err }(), ErrRelation},
	} {
		var e *refusal
		sentinel := c.want
		switch c.want {
		case errGroup, errUnrepresentable, errDegenerate:
			sentinel = ErrNoBound
		default:
			if !slices.Contains([]error{ErrRelation, ErrNoBound, ErrQuery, ErrShape, ErrNonFinite, ErrLabels}, c.want) {
				sentinel = ErrQuery
			}
		}
		if !errors.Is(c.err, sentinel) || !errors.As(c.err, &e) || e.Err != c.want {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		} else if e.Op == "" || !strings.HasPrefix(c.err.Error(), "sensitivity: "+e.Op) {
			t.Errorf("%s: message %q", name, c.err)
		}
	}
}

// Unusual arguments that are allowed.
func TestAllowed(t *testing.T) {
	for name, q := range map[string]Query{
		"alpha 0":                 with(func(q *Query) { q.Alpha = 0 }),
		"alpha < 0":               with(func(q *Query) { q.Alpha = -3 }),
		"one class":               with(func(q *Query) { q.Table = Gaussian{Classes: 1, Sigma: 1} }),
		"narrow labels":           with(func(q *Query) { q.Table = Gaussian{Classes: 9, Sigma: 1e-200} }),
		"one class, narrow":       with(func(q *Query) { q.Table = Gaussian{Classes: 1, Sigma: 1e-200} }),
		"one class, equal":        with(func(q *Query) { q.Table = Equal{1} }),
		"one class, different":    with(func(q *Query) { q.Table = Different{1} }),
		"floor, narrow bandwidth": with(func(q *Query) { q.Operator = Floor{1}; q.Sigma = 0.01 }),
		"just representable":      with(func(q *Query) { q.Sigma = 0.0535 }),
	} {
		for _, rel := range relations {
			b, err := q.Tight(rel, exampleQ, Rows{})
			if err != nil || !b.Valid() || !finite(b.Value()) {
				t.Errorf("%s: %v, %v", name, b, err)
			}
		}
	}
	// One class: the label hides nothing.
	one := with(func(q *Query) { q.Table = Equal{1} })
	if a, b := mustTight(t, Null, one, exampleQ, Rows{}), mustTight(t, FeaturesNull, one, exampleQ, Rows{}); math.Abs(a/b-1) > 1e-12 {
		t.Errorf("one class: %v and %v", a, b)
	}
	weight, _, err := Gaussian{Classes: 3, Sigma: 1e-200}.entries()
	if err != nil || weight(1, 1) != 1 || weight(0, 1) != 0 {
		t.Errorf("narrow labels: %v, %v, %v", weight(1, 1), weight(0, 1), err)
	}
}

func TestKnownStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := exampleQuery.Known(ctx, ReplaceOne, exampleQ, examplePublic, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	// A table of millions of classes ends with the context.
	s := &surroundings{n: 1, k: 1, apart: []float64{1}, length: []float64{1}}
	one := func(a, b int32) float64 { return 1 }
	if err := s.tabulate(ctx, []int32{0}, entries{weight: one, offset: one, classes: 1 << 20}); !errors.Is(err, context.Canceled) {
		t.Errorf("tabulate: %v", err)
	}
	many := with(func(q *Query) { q.Table = Gaussian{Classes: math.MaxInt32, Sigma: 1} })
	if _, err := many.Known(context.Background(), ReplaceOne, exampleQ, examplePublic, nil); !errors.Is(err, errTable) {
		t.Errorf("two thousand million classes: %v", err)
	}
}

func TestErrorsThatAddUpTooFar(t *testing.T) {
	of := identity{rows: 2}
	half := Eta{value: math.MaxFloat64 / 1.5, of: of}
	for name, other := range map[string]Eta{"the sum": half, "its rounding": {value: math.MaxFloat64 - half.value, of: of}} {
		sum, err := half.Plus(other)
		e, ok := errors.AsType[*refusal](err)
		if !ok || e.Op != "eta" || e.Err != errUnrepresentable || sum.Value() != 0 {
			t.Errorf("%s overflows: %v, %v", name, sum.Value(), err)
		}
	}
}
