package sensitivity

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"
)

type drawer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func mustTight(t drawer, rel Relation, query Query, q blas64.General, rows Rows) float64 {
	t.Helper()
	b, err := query.Tight(rel, q, rows)
	if errors.Is(err, errDegenerate) {
		return 0
	}
	if err != nil {
		t.Fatalf("%v, %v: %v", rel, query, err)
	}
	return b.Exact()
}

func clone(q blas64.General) blas64.General {
	q.Data = slices.Clone(q.Data)
	return q
}

func scaled(q blas64.General, t float64) blas64.General {
	q = clone(q)
	for i := range q.Data {
		q.Data[i] *= t
	}
	return q
}

// drawCase returns a random query of every kind and a Q that fits it.
func drawCase(t *rapid.T) (*rand.Rand, Query, blas64.General, Rows) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
	n := rapid.IntRange(2, 40).Draw(t, "rows")
	query, _ := randomQuery(rng, n)
	q := gaussianStart(rng, n, rapid.SampledFrom([]int{1, 2, 3, 5, 50, 70}).Draw(t, "columns"))
	var rows Rows
	if rapid.Bool().Draw(t, "some rows") {
		rows.Released = rng.Perm(n)[:1+rng.IntN(n)]
		rows.Private = rng.Perm(n)[:1+rng.IntN(n)]
	}
	return rng, query, q, rows
}

func TestRelationsAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, query, q, rows := drawCase(t)
		v := make(map[Relation]float64)
		for _, rel := range relations {
			v[rel] = mustTight(t, rel, query, q, rows)
		}
		for _, p := range [][2]Relation{{FeaturesNull, Null}, {FeaturesReplace, ReplaceOne}, {Null, ReplaceOne}, {FeaturesNull, FeaturesReplace}} {
			if v[p[0]] > v[p[1]]*(1+1e-12) {
				t.Fatalf("%v: %v has %.17g, %v only %.17g", query, p[0], v[p[0]], p[1], v[p[1]])
			}
		}
	})
}

func TestScaleAndShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng, query, q, rows := drawCase(t)
		rel := relations[rng.IntN(4)]
		v := mustTight(t, rel, query, q, rows)
		// A power of two changes no digit, another number only the last ones.
		for _, p := range []float64{0x1p-500, -0x1p400, 0.5} {
			if w := mustTight(t, rel, query, scaled(q, p), rows); w != math.Abs(p)*v {
				t.Fatalf("%v: Delta(%g Q) = %g, want %g", query, p, w, math.Abs(p)*v)
			}
		}
		if w := mustTight(t, rel, query, scaled(q, -1e-8), rows); math.Abs(w-1e-8*v) > 1e-12*1e-8*v {
			t.Fatalf("%v: Delta(-1e-8 Q) = %g, want %g", query, w, 1e-8*v)
		}
		// Entries on a grid, so that a large shift is exact.
		for i := range q.Data {
			q.Data[i] = math.Round(q.Data[i]*0x1p20) * 0x1p-20
		}
		v = mustTight(t, rel, query, q, rows)
		shifted := clone(q)
		for i := range shifted.Data {
			shifted.Data[i] += float64(1+i%q.Cols) * 0x1p20
		}
		if w := mustTight(t, rel, query, shifted, rows); math.Abs(w-v) > 1e-12*v {
			t.Fatalf("%v: shifted %.17g, want %.17g", query, w, v)
		}
		// Neither the sign of alpha nor a stride matters.
		query.Alpha = -query.Alpha
		wide := blas64.General{Rows: q.Rows, Cols: q.Cols, Stride: q.Cols + 3, Data: make([]float64, q.Rows*(q.Cols+3))}
		for i := range wide.Data {
			wide.Data[i] = math.NaN()
		}
		for i := range q.Rows {
			copy(wide.Data[i*wide.Stride:], q.Data[i*q.Stride:][:q.Cols])
		}
		if w := mustTight(t, rel, query, wide, rows); w != v {
			t.Fatalf("%v: %.17g with -alpha and a stride, want %.17g", query, w, v)
		}
	})
}

func TestScalarFormIsAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng, query, q, _ := drawCase(t)
		rel := relations[rng.IntN(4)]
		norms, err := Measure(q)
		if err != nil {
			t.Fatalf("%v", err)
		}
		b, err := query.Scalar(rel, norms)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if v := mustTight(t, rel, query, q, Rows{}); v > b.Exact()*(1+1e-12) {
			t.Fatalf("%v %v: %.17g above the scalar form %.17g", rel, query, v, b.Exact())
		}
		// One row: its own distance.
		s := rng.IntN(q.Rows)
		g, _ := newGeometry(q)
		norms.Distance = math.Ldexp(g.distance[s], g.exponent)
		if b, err = query.Scalar(rel, norms); err != nil {
			t.Fatalf("%v", err)
		}
		if v := mustTight(t, rel, query, q, Rows{Private: []int{s}}); v > b.Exact()*(1+1e-12) {
			t.Fatalf("%v %v, row %d: %.17g above the scalar form %.17g", rel, query, s, v, b.Exact())
		}
	})
}

// The search for the largest row finds the maximum over the rows one by one,
// the order of the rows does not matter, and a small number of full evaluations
// can only raise the result.
func TestLargestRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng, query, q, rows := drawCase(t)
		rel := relations[rng.IntN(4)]
		b, err := query.Tight(rel, q, rows)
		if err != nil {
			if errors.Is(err, errDegenerate) {
				return
			}
			t.Fatalf("%v", err)
		}
		private := rows.Private
		if private == nil {
			for i := range q.Rows {
				private = append(private, i)
			}
		}
		want, at := 0.0, -1
		for _, s := range private {
			if v := mustTight(t, rel, query, q, Rows{Private: []int{s}, Released: rows.Released}); v > want {
				want, at = v, s
			}
		}
		if b.Exact() != want || mustTight(t, rel, query, q, Rows{Private: []int{b.row}, Released: rows.Released}) != want {
			t.Fatalf("%v %v: %.17g at row %d, want %.17g at %d", rel, query, b.Exact(), b.row, want, at)
		}
		if few, err := tight(rel, query, of(q), rows, 1); err != nil || few.Exact() < want {
			t.Fatalf("%v %v: one evaluation gives %.17g, %v; want at least %.17g", rel, query, few.Exact(), err, want)
		}
		// Fewer released rows or fewer private rows give a smaller bound.
		if full := mustTight(t, rel, query, q, Rows{Private: rows.Private}); want > full*(1+1e-12) {
			t.Fatalf("%v %v: %.17g for some rows, %.17g for all", rel, query, want, full)
		}
	})
}

// H_s against all signs for few rows, and against many directions for many.
func TestProjections(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for round := range 500 {
		n, k := 2+rng.IntN(10), 1+rng.IntN(3)
		q := gaussianStart(rng, n, k)
		if round%3 == 0 { // equal rows, equal angles, axes
			for i := range q.Data {
				q.Data[i] = float64(rng.IntN(3) - 1)
			}
			q.Data[0] = 5
		}
		g, err := newGeometry(q)
		if err != nil {
			t.Fatal(err)
		}
		s := rng.IntN(n)
		// The maximum over e is the longest of all signed sums.
		want := 0.0
		sum := make([]float64, k)
		for signs := range 1 << n {
			clear(sum)
			for j := range n {
				sign := float64(signs>>j&1*2 - 1)
				for c, v := range g.row(j) {
					sum[c] += sign * (v - g.row(s)[c])
				}
			}
			want = max(want, math.Sqrt(squared(sum, make([]float64, k))))
		}
		got := newSearch(g, Rows{}).evaluate(s).h
		if k <= 2 && math.Abs(got-want) > 1e-13*want || got < want*(1-1e-13) {
			t.Fatalf("%d x %d: H_s = %.17g, want %.17g", n, k, got, want)
		}
	}
	const n, directions = 40, 4000
	for range 200 {
		g, err := newGeometry(gaussianStart(rng, n, 2))
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for a := range directions {
			y, x := math.Sincos(math.Pi * float64(a) / directions)
			sum := 0.0
			for j := range n {
				sum += math.Abs(x*(g.row(j)[0]-g.row(0)[0]) + y*(g.row(j)[1]-g.row(0)[1]))
			}
			want = max(want, sum)
		}
		if got := new(planar).exactPlanar(g, 0); got < want*(1-1e-13) || got > want*(1+1e-6) {
			t.Fatalf("%d rows: H_s = %.9g, want %.9g", n, got, want)
		}
	}
}

// The Proposition: a pair of neighbours that changes f by 1/2 |alpha| kL N/n d_s
// in row s, so no bound can be below it.
func TestLowerBound(t *testing.T) {
	for _, sigma := range []float64{0.7, 2, 6, 30} {
		for _, alpha := range []float64{0.6, -2} {
			rng := rand.New(rand.NewPCG(7, 7))
			q := gaussianStart(rng, 30, 2)
			query := Query{Operator: Full{}, Sigma: sigma, Alpha: alpha, Table: Gaussian{Classes: 10, Sigma: sigma}}
			weight, classes, _ := query.Table.entries()
			g, _ := newGeometry(q)
			s := 3
			x := 1 / (2 * sigma * sigma)
			nu := math.Exp(-81 * x)
			kL := map[Relation]float64{
				Null: math.Exp(4*x) - nu*math.Exp(x), ReplaceOne: math.Exp(4*x) - nu,
				FeaturesNull: math.Exp(4*x) - math.Exp(x), FeaturesReplace: math.Exp(4*x) - 1,
			}
			e := []float64{1, 0}
			for _, rel := range relations {
				a := newAdversary(rng, rel, query, classes, weight, q, s)
				for j := range a.d.features {
					a.d.features[j], a.d.labels[j] = e, 9
				}
				a.first, a.second = record{x: e}, record{x: negated(e), label: 9}
				a.repair()
				got := a.value()
				want := 0.5 * math.Abs(alpha) * kL[rel] * 30 / 29 * math.Ldexp(g.distance[s], g.exponent)
				if got < want*(1-1e-9) {
					t.Errorf("sigma %g, %v: changed by %.12g, want at least %.12g", sigma, rel, got, want)
				}
				if b := mustTight(t, rel, query, q, Rows{Private: []int{s}}); b < got {
					t.Errorf("sigma %g, %v: bound %.12g below the change %.12g", sigma, rel, b, got)
				}
			}
		}
	}
}

// f itself: a shift of Q is a shift of f.
func TestStepCommutesWithShift(t *testing.T) {
	d := exampleData(exampleQuery)
	f := d.step()
	d.q = clone(d.q)
	for i := range d.q.Data {
		d.q.Data[i] += 3 - 5*float64(i%2)
	}
	for i, v := range d.step() {
		if math.Abs(v-f[i]-(3-5*float64(i%2))) > 1e-14 {
			t.Errorf("value %d moved by %g", i, v-f[i])
		}
	}
}

// At a wide bandwidth the constants are of order 1/sigma^2, made of differences
// that cancel when evaluated literally.
func TestWideBandwidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	q := gaussianStart(rng, 20, 2)
	at := func(rel Relation, sigma float64) float64 {
		query := Query{Operator: Full{}, Sigma: sigma, Alpha: 0.6, Table: Gaussian{Classes: 3, Sigma: sigma}}
		return mustTight(t, rel, query, q, Rows{}) * sigma * sigma
	}
	for _, rel := range relations {
		a, b, c := at(rel, 1e6), at(rel, 1e9), at(rel, 1e100)
		if math.Abs(a/c-1) > 1e-9 || math.Abs(b/c-1) > 1e-12 {
			t.Errorf("%v: sigma^2 Delta is %.15g, %.15g, %.15g", rel, a, b, c)
		}
	}
	m := func(sigma float64) float64 {
		in, err := newLemma(Query{Operator: Full{}, Sigma: sigma, Alpha: 0.6, Table: Gaussian{Classes: 3, Sigma: sigma}}, 20)
		if err != nil {
			t.Fatal(err)
		}
		c, err := in.paper()
		if err != nil {
			t.Fatal(err)
		}
		return sigma * sigma * (in.corrected() + 1e3*c.M)
	}
	if a, b := m(1e6), m(1e9); math.Abs(a/b-1) > 1e-9 {
		t.Errorf("sigma^2 M is %.15g and %.15g", a, b)
	}
	// The background's level is found from a weight near one.
	for _, rel := range relations {
		back := func(sigma float64) float64 {
			query := Query{Operator: Midpoint(sigma, 1.3), Sigma: sigma, Alpha: 0.6, Table: Range{0.5, 0.5}}
			return mustTight(t, rel, query, q, Rows{}) * sigma * sigma
		}
		if a, b := back(1e3), back(1e4); math.Abs(a/b-1) > 1e-5 {
			t.Errorf("%v: background: sigma^2 Delta is %.15g and %.15g", rel, a, b)
		}
	}
}

// The background at radius 2 and the smallest weight is the full kernel.
func TestBackgroundOfFullRadius(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	q := gaussianStart(rng, 20, 2)
	for _, rel := range relations {
		full := Query{Operator: Full{}, Sigma: 2, Alpha: -0.6, Table: Range{-0.3, 1}}
		back := full
		back.Operator = Midpoint(2, 2)
		a, b := mustTight(t, rel, full, q, Rows{}), mustTight(t, rel, back, q, Rows{})
		if math.Abs(a/b-1) > 1e-12 {
			t.Errorf("%v: %.15g and %.15g", rel, a, b)
		}
		// A smaller radius has a larger background and a smaller bound.
		back.Operator = Midpoint(2, 1)
		if c := mustTight(t, rel, back, q, Rows{}); c >= b {
			t.Errorf("%v: %.15g at radius 1, %.15g at radius 2", rel, c, b)
		}
	}
}

// Known uses the public rows, so it is below Tight on typical data, and does not
// depend on values it must not read.
func TestKnownAgainstTight(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	const n, dim = 60, 8
	q := gaussianStart(rng, n+1, 2)
	public := Public{Row: 17, Label: 5}
	var flat []float64
	for range n {
		flat = append(flat, randomUnit(rng, dim)...)
		public.Labels = append(public.Labels, int32(rng.IntN(98)))
	}
	public.Features = matrix(dim, flat...)
	query := Query{Operator: Full{}, Sigma: 6, Alpha: 0.6, Table: Gaussian{Classes: 98, Sigma: 6}}
	for _, rel := range relations {
		b, err := query.Known(context.Background(), rel, q, public, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := mustTight(t, rel, query, q, Rows{Private: []int{17}})
		t.Logf("%v: Theorem 1 %.4g, Theorem 2 %.4g", rel, v, b.Exact())
		if b.Exact() > v/2 {
			t.Errorf("%v: %.4g is not far below %.4g", rel, b.Exact(), v)
		}
		// Rows slightly off unit norm are rescaled, and the private label is read
		// only where it is public.
		other := public
		other.Features = scaled(public.Features, 1+5e-7)
		if rel.LabelPrivate() {
			other.Label = -7
		}
		c, err := query.Known(context.Background(), rel, q, other, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(c.Exact()/b.Exact()-1) > 1e-12 {
			t.Errorf("%v: %.15g after scaling, %.15g before", rel, c.Exact(), b.Exact())
		}
		// Only row r, and everything except row r.
		own, err := query.Known(context.Background(), rel, q, public, []int{17})
		if err != nil {
			t.Fatal(err)
		}
		rest := []int{}
		for i := range n + 1 {
			if i != 17 {
				rest = append(rest, i)
			}
		}
		others, err := query.Known(context.Background(), rel, q, public, rest)
		if err != nil {
			t.Fatal(err)
		}
		// For replace-one the two parts may be largest for different labels.
		if h := math.Hypot(own.Exact(), others.Exact()); h < b.Exact()*(1-1e-12) || own.Exact() > b.Exact() || others.Exact() > b.Exact() {
			t.Errorf("%v: parts %g and %g of %g", rel, own.Exact(), others.Exact(), b.Exact())
		} else if !rel.LabelPrivate() && h > b.Exact()*(1+1e-9) {
			t.Errorf("%v: parts %g and %g make %g, want %g", rel, own.Exact(), others.Exact(), h, b.Exact())
		}
	}
}

// Several records that change together, against random changes.
func TestGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	const n = 8
	q := gaussianStart(rng, n, 2)
	query := Query{Operator: Full{}, Sigma: 1, Alpha: 0.6, Table: Gaussian{Classes: 4, Sigma: 1}}
	weight, classes, _ := query.Table.entries()
	b, err := query.Tight(ReplaceOne, q, Rows{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.Group(2)
	if err != nil {
		t.Fatal(err)
	}
	if two.Exact() != 2*b.Exact() || two.Records() != 2 || b.Records() != 1 {
		t.Errorf("group of two: %v, records %d", two, two.Records())
	}
	for range 300 {
		a := newAdversary(rng, ReplaceOne, query, classes, weight, q, 0)
		a.random(2)
		f := a.d.change(0, a.first).change(1, record{x: randomUnit(rng, 2), label: 3}).step()
		g := a.d.change(0, a.second).change(1, record{x: randomUnit(rng, 2)}).step()
		if v := distance(f, g); v > two.Exact() {
			t.Fatalf("changed by %g, bound %g", v, two.Exact())
		}
	}
	null, _ := query.Tight(Null, q, Rows{})
	known, _ := exampleQuery.Known(context.Background(), ReplaceOne, exampleQ, examplePublic, nil)
	for _, c := range []struct {
		b       Bound
		records int
	}{{b, 0}, {null, 2}, {two, 2}, {known, 2}, {Bound{}, 2}} {
		if _, err := c.b.Group(c.records); !errors.Is(err, errGroup) {
			t.Errorf("group %d of %v: %v", c.records, c.b, err)
		}
	}
}
