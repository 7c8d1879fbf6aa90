package supervised_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// labelledRows are n rows of d values around the means of 5 classes, a seventh
// of them without a label.
func labelledRows(n, d int, seed uint64) (*mat.Dense, []int32) {
	rng := rand.New(rand.NewPCG(seed, 7))
	means := mat.NewDense(5, d, nil)
	means.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, means)
	x, labels := mat.NewDense(n, d, nil), make([]int32, n)
	for i := range n {
		class := i % 5
		for j := range d {
			x.Set(i, j, means.At(class, j)+rng.NormFloat64()*(0.2+float64(j)))
		}
		if labels[i] = int32(class); i%7 == 3 {
			labels[i] = kernel.Unlabelled
		}
	}
	return x, labels
}

// single returns rows as Fit takes them.
func single(x *mat.Dense) blas32.General { return points.Single(x.RawMatrix()) }

// double returns rows in float64.
func double(x blas32.General) *mat.Dense {
	out := mat.NewDense(x.Rows, x.Cols, nil)
	for i := range x.Rows {
		points.ReadRow(out.RawRowView(i), x, i)
	}
	return out
}

func newEngine(t testing.TB, opts ...privatemail.Option) *privatemail.Engine {
	e, err := privatemail.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// within returns the covariance of labelled rows about the means of their
// classes, by its definition, up to a factor.
func within(x *mat.Dense, labels []int32) *mat.SymDense {
	n, d := x.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range n {
		if labels[i] < 0 {
			continue
		}
		mean, count := mat.NewVecDense(d, nil), 0.0
		for j := range n {
			if labels[j] == labels[i] {
				mean.AddVec(mean, x.RowView(j))
				count++
			}
		}
		mean.ScaleVec(1/count, mean)
		mean.SubVec(x.RowView(i), mean)
		s.SymRankOne(s, 1, mean)
	}
	return s
}

// ridged returns the covariance within classes, with the ridge.
func ridged(x *mat.Dense, labels []int32, ridge float64) *mat.SymDense {
	r := within(x, labels)
	labelled := 0
	for _, label := range labels {
		if label >= 0 {
			labelled++
		}
	}
	r.ScaleSym(1/float64(labelled), r)
	d := r.SymmetricDim()
	mean := mat.Trace(r) / float64(d)
	for j := range d {
		r.SetSym(j, j, r.At(j, j)+ridge*mean)
	}
	return r
}

// form returns a'ra.
func form(a *mat.Dense, r mat.Matrix) *mat.Dense {
	var left, out mat.Dense
	left.Mul(a.T(), r)
	out.Mul(&left, a)
	return &out
}

// identity reports whether a matrix is the identity to a tolerance.
func identity(x *mat.Dense, tolerance float64) bool {
	n, _ := x.Dims()
	for i := range n {
		for j := range n {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(x.At(i, j)-want) > tolerance {
				return false
			}
		}
	}
	return true
}

// A'R A = I, with and without scaled columns.
func TestMapWhitensWithinClasses(t *testing.T) {
	const n, d = 60, 6
	x, labels := labelledRows(n, d, 1)
	for _, ridge := range []float64{0.1, 1, 10} {
		m, err := (supervised.Recipe{Projection: supervised.Whiten, Ridge: ridge}).NewMap(t.Context(), single(x), labels)
		if err != nil {
			t.Fatal(err)
		}
		if got := form(m.A, ridged(x, labels, ridge)); !identity(got, 1e-5) {
			t.Errorf("ridge %g: A'RA is\n%v", ridge, mat.Formatted(got))
		}
		// Rows without a label enter the mean.
		for j, v := range m.Mean {
			if want := mat.Sum(x.ColView(j)) / n; math.Abs(v-want) > 1e-6 {
				t.Errorf("mean %d is %g, want %g", j, v, want)
			}
		}
	}
	m, err := (supervised.Recipe{Standardize: true, Projection: supervised.Whiten, Ridge: 1}).NewMap(t.Context(), single(x), labels)
	if err != nil {
		t.Fatal(err)
	}
	scaled, sd := mat.DenseCopyOf(x), make([]float64, d)
	for j := range d {
		for i := range n {
			sd[j] += math.Pow(x.At(i, j)-m.Mean[j], 2) / n
		}
		sd[j] = math.Sqrt(sd[j])
	}
	scaled.Apply(func(_, j int, v float64) float64 { return v / sd[j] }, scaled)
	undone := mat.DenseCopyOf(m.A)
	undone.Apply(func(i, _ int, v float64) float64 { return v * sd[i] }, undone)
	if got := form(undone, ridged(scaled, labels, 1)); !identity(got, 1e-5) {
		t.Errorf("standardised: A'RA is\n%v", mat.Formatted(got))
	}
}

// Fewer columns maximise what they should: they diagonalise R and the covariance of all
// rows, or of the means of the classes, and leave the largest ratios.
func TestMapOfFewerColumns(t *testing.T) {
	const n, d = 60, 6
	x, labels := labelledRows(n, d, 2)
	for _, c := range []struct {
		recipe  supervised.Recipe
		columns int
	}{
		{supervised.Recipe{Projection: supervised.Whiten, Ridge: 1, Columns: 3}, 3},
		{supervised.Recipe{Projection: supervised.Discriminate, Ridge: 1}, 4},
		{supervised.Recipe{Projection: supervised.Discriminate, Ridge: 0.3, Columns: 2}, 2},
		{supervised.Recipe{Columns: 2}, 2},
	} {
		m, err := c.recipe.NewMap(t.Context(), single(x), labels)
		if err != nil {
			t.Fatal(err)
		}
		if m.Columns() != c.columns {
			t.Errorf("%v: %d columns, want %d", c.recipe, m.Columns(), c.columns)
		}
		r := mat.NewSymDense(d, nil)
		for j := range d {
			r.SetSym(j, j, 1)
		}
		if c.recipe.Projection != supervised.Keep {
			r = ridged(x, labels, c.recipe.Ridge)
		}
		if got := form(m.A, r); !identity(got, 1e-5) {
			t.Errorf("%v: A'RA is\n%v", c.recipe, mat.Formatted(got))
		}
		ratios := form(m.A, spread(x, labels, m.Mean, c.recipe.Projection == supervised.Discriminate))
		for i := range c.columns {
			for j := range c.columns {
				if i != j && math.Abs(ratios.At(i, j)) > 1e-5*ratios.At(0, 0) {
					t.Errorf("%v: A'CA is\n%v", c.recipe, mat.Formatted(ratios))
				}
			}
			if i > 0 && ratios.At(i, i) > ratios.At(i-1, i-1)*(1+1e-5) {
				t.Errorf("%v: ratio %d rises", c.recipe, i)
			}
		}
	}
}

// spread is the covariance of all rows, or of the means of their classes.
func spread(x *mat.Dense, labels []int32, mean []float64, means bool) *mat.SymDense {
	n, d := x.Dims()
	out := mat.NewSymDense(d, nil)
	if !means {
		for i := range n {
			row := mat.NewVecDense(d, nil)
			row.SubVec(x.RowView(i), mat.NewVecDense(d, mean))
			out.SymRankOne(out, 1/float64(n), row)
		}
		return out
	}
	sums, counts := map[int32]*mat.VecDense{}, map[int32]float64{}
	all, total := mat.NewVecDense(d, nil), 0.0
	for i, label := range labels {
		if label < 0 {
			continue
		}
		if sums[label] == nil {
			sums[label] = mat.NewVecDense(d, nil)
		}
		sums[label].AddVec(sums[label], x.RowView(i))
		all.AddVec(all, x.RowView(i))
		counts[label]++
		total++
	}
	all.ScaleVec(1/total, all)
	for label, sum := range sums {
		sum.ScaleVec(1/counts[label], sum)
		sum.SubVec(sum, all)
		out.SymRankOne(out, counts[label]/total, sum)
	}
	return out
}

// More classes than columns take another way to the same directions.
func TestMapOfManyClasses(t *testing.T) {
	x, labels := labelledRows(200, 4, 6)
	for i := range labels {
		labels[i] = int32(i % 40)
	}
	m, err := (supervised.Recipe{Projection: supervised.Discriminate, Ridge: 1}).NewMap(t.Context(), single(x), labels)
	if err != nil {
		t.Fatal(err)
	}
	if got := form(m.A, ridged(x, labels, 1)); m.Columns() != 4 || !identity(got, 1e-5) {
		t.Errorf("A'RA is\n%v", mat.Formatted(got))
	}
}

// mapped returns a recipe, the map of it, and the images of the rows the map was made from.
func mapped(t *testing.T, text string, x *mat.Dense, labels []int32) (supervised.Recipe, *supervised.Map, blas32.General) {
	t.Helper()
	r, err := supervised.ParseRecipe(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.NewMap(t.Context(), single(x), labels)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Apply(single(x))
	if err != nil {
		t.Fatal(err)
	}
	return r, m, z
}

// Every part of a recipe does what its comment says, and in one piece the linear part is the
// same map.
func TestMapIsItsRecipe(t *testing.T) {
	const n, d = 50, 5
	x, labels := labelledRows(n, d, 8)
	for _, text := range []string{
		"raw", "scaled", "unit-rows", "root,unit-rows", "standardize,unit-images", "classic", "deep", "columns=2,unit-images", "root,standardize,whiten,ridge=0.1",
	} {
		r, m, z := mapped(t, text, x, labels)
		with := mat.NewDense(n, d+1, nil)
		for i := range n {
			row := with.RawRowView(i)[:d]
			copy(row, x.RawRowView(i))
			if r.Root {
				for j, v := range row {
					row[j] = math.Copysign(math.Sqrt(math.Abs(v)), v)
				}
			}
			if r.UnitRows {
				points.Normalize(row)
			}
			with.Set(i, d, 1)
		}
		var whole mat.Dense
		whole.Mul(with, m.Affine())
		if r.UnitImages {
			for i := range n {
				points.Normalize(whole.RawRowView(i))
			}
		}
		if !mat.EqualApprox(&whole, double(z), 1e-4) {
			t.Errorf("%s: Affine is another map", text)
		}
	}
}

// The objective falls from step to step, with rows that have no label.
func TestFitNeverIncreasesTheObjective(t *testing.T) {
	x, labels := labelledRows(200, 8, 3)
	fit, err := supervised.Fit(t.Context(), newEngine(t), single(x), labels, fixed("classic,steps=12"))
	if err != nil {
		t.Fatal(err)
	}
	if len(fit.Trace) != 12 {
		t.Fatalf("%d records", len(fit.Trace))
	}
	for i := 1; i < len(fit.Trace); i++ {
		if fit.Trace[i].Objective > fit.Trace[i-1].Objective*(1+1e-6) {
			t.Errorf("v rises from %g to %g at step %d", fit.Trace[i-1].Objective, fit.Trace[i].Objective, i)
		}
	}
}

// fixed are settings with a recipe that is not measured.
func fixed(text string) *supervised.Settings {
	r, err := supervised.ParseRecipe(text)
	if err != nil {
		panic(err)
	}
	return &supervised.Settings{Recipe: &r, Unmeasured: true}
}

// A row without a label and without neighbours stays where the map put it, and
// the labels decide where the others go.
func TestFitMovesRows(t *testing.T) {
	x, labels := labelledRows(100, 8, 4)
	e := newEngine(t)
	fit, err := supervised.Fit(t.Context(), e, single(x), labels, fixed("classic,neighbours=0.1"))
	if err != nil {
		t.Fatal(err)
	}
	stayed := 0
	for i := range 100 {
		var moved mat.VecDense
		moved.SubVec(double(fit.X).RowView(i), double(fit.Z).RowView(i))
		if far := mat.Norm(&moved, 2); far > 1e-6 && labels[i] < 0 {
			continue // it has a neighbour
		} else if far > 1e-6 != (labels[i] >= 0) {
			t.Errorf("row %d with label %d moved by %g", i, labels[i], far)
		} else if labels[i] < 0 {
			stayed++
		}
	}
	if stayed == 0 {
		t.Error("no row without label and neighbours")
	}
	// More neighbours than there are other rows are all of them.
	most, err := supervised.Fit(t.Context(), e, single(x), labels, fixed("classic,neighbours=99"))
	if err != nil {
		t.Fatal(err)
	}
	if more, err := supervised.Fit(t.Context(), e, single(x), labels, fixed("classic,neighbours=1000")); err != nil || !slices.Equal(most.X.Data, more.X.Data) {
		t.Errorf("a degree of 1000: %v", err)
	}
}

func TestFitRefuses(t *testing.T) {
	e := newEngine(t)
	x, labels := labelledRows(40, 3, 5)
	none, own := make([]int32, 40), make([]int32, 40)
	for i := range none {
		none[i], own[i] = kernel.Unlabelled, int32(i)
	}
	wrong := append([]int32{-2}, labels[1:]...)
	broken := mat.DenseCopyOf(x)
	broken.Set(7, 1, math.NaN())
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	classic := fixed("classic")
	with := func(change func(*supervised.Recipe)) *supervised.Settings {
		r := supervised.Classic()
		change(&r)
		return &supervised.Settings{Recipe: &r}
	}
	for _, c := range []struct {
		name   string
		ctx    context.Context
		rows   blas32.General
		labels []int32
		s      *supervised.Settings
		want   error
	}{
		{"no labels", t.Context(), single(x), none, classic, supervised.ErrNoPairs},
		{"every row a class", t.Context(), single(x), own, classic, supervised.ErrNoPairs},
		{"equal rows", t.Context(), single(mat.NewDense(40, 3, nil)), labels, classic, supervised.ErrNoPairs},
		{"labels missing", t.Context(), single(x), labels[1:], nil, points.ErrShape},
		{"a wrong label", t.Context(), single(x), wrong, nil, kernel.ErrLabels},
		{"no rows", t.Context(), blas32.General{Cols: 3, Stride: 3}, nil, nil, points.ErrShape},
		{"short storage", t.Context(), blas32.General{Rows: 40, Cols: 3, Stride: 3, Data: make([]float32, 7)}, labels, nil, points.ErrShape},
		{"no number", t.Context(), single(broken), labels, nil, points.ErrNonFinite},
		{"columns", t.Context(), single(x), labels, with(func(r *supervised.Recipe) { r.Columns = 4 }), points.ErrShape},
		{"negative columns", t.Context(), single(x), labels, with(func(r *supervised.Recipe) { r.Columns = -1 }), privatemail.ErrSettings},
		{"neighbours", t.Context(), single(x), labels, with(func(r *supervised.Recipe) { r.Neighbours = -1 }), privatemail.ErrSettings},
		{"steps", t.Context(), single(x), labels, with(func(r *supervised.Recipe) { r.Steps = -1 }), privatemail.ErrSettings},
		{"beta", t.Context(), single(x), labels, with(func(r *supervised.Recipe) { r.Beta = -1 }), privatemail.ErrSettings},
		{"ridge", t.Context(), single(x), labels, with(func(r *supervised.Recipe) { r.Ridge = math.NaN() }), privatemail.ErrSettings},
		{"cancelled", cancelled, single(x), labels, nil, context.Canceled},
		{"cancelled, fixed", cancelled, single(x), labels, classic, context.Canceled},
	} {
		if _, err := supervised.Fit(c.ctx, e, c.rows, c.labels, c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestMapRefuses(t *testing.T) {
	a := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	good := supervised.Map{Dim: 2, Mean: []float64{1, 2}, A: a}
	row := func(v ...float32) blas32.General {
		return blas32.General{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
	}
	nan, huge := math.NaN(), math.MaxFloat64
	for _, c := range []struct {
		name string
		m    supervised.Map
		rows blas32.General
		want error
	}{
		{"nothing", supervised.Map{}, row(1, 2), points.ErrShape},
		{"sizes of the map", supervised.Map{Dim: 2, Mean: []float64{1}, A: a}, row(1, 2), points.ErrShape},
		{"another dimension", supervised.Map{Dim: 3, A: a}, row(1, 2, 3), points.ErrShape},
		{"scale and matrix", supervised.Map{Dim: 2, Scale: []float64{1, 1}, A: a}, row(1, 2), points.ErrShape},
		{"mean", supervised.Map{Dim: 2, Mean: []float64{nan, 1}, A: a}, row(1, 2), points.ErrNonFinite},
		{"scale", supervised.Map{Dim: 2, Scale: []float64{huge, 1}}, row(1, 2), points.ErrNonFinite},
		{"matrix", supervised.Map{Dim: 2, Mean: good.Mean, A: mat.NewDense(2, 1, []float64{1, nan})}, row(1, 2), points.ErrNonFinite},
		{"large matrix", supervised.Map{Dim: 2, Mean: good.Mean, A: mat.NewDense(2, 1, []float64{huge, huge})}, row(9, 9), points.ErrNonFinite},
		{"dimension", good, row(1, 2, 3), points.ErrShape},
		{"no number", good, row(1, float32(nan)), points.ErrNonFinite},
		{"large mean", supervised.Map{Dim: 2, Mean: []float64{huge, 1}, A: a}, row(1, 2), points.ErrNonFinite},
	} {
		if _, err := c.m.Apply(c.rows); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Whoever publishes a map must not learn from whether a query comes at all: no
// map that passes Check fails for one query and not for another.
func TestMapFailsForNobodyAlone(t *testing.T) {
	most := float32(math.MaxFloat32)
	queries := mat.NewDense(6, 2, []float64{0.6, 0.8, 1, 0, 0, 1, -0.6, 0.8, float64(most), float64(-most), 1e-45, 0})
	for name, m := range map[string]supervised.Map{
		"overflow above a half":   {Mean: []float64{0, 0}, A: mat.NewDense(2, 1, []float64{1.6e154, 0})},
		"large":                   {Mean: []float64{0, 0}, A: mat.NewDense(2, 1, []float64{1e50, -1e50})},
		"large mean":              {Mean: []float64{1e50, -1e50}, A: mat.NewDense(2, 1, []float64{1e50, -1e50})},
		"underflow below a half":  {Mean: []float64{0, 0}, A: mat.NewDense(2, 1, []float64{5e-324, 0})},
		"zero where a feature is": {Mean: []float64{0, 1}, A: mat.NewDense(2, 1, []float64{0, 1})},
		"zero at one query":       {Mean: []float64{0.6, 0.8}, A: mat.NewDense(2, 2, []float64{1, 0, 0, 1})},
		"nothing left":            {A: mat.NewDense(2, 2, nil)},
		"scale":                   {Mean: []float64{1e50, -1e50}, Scale: []float64{1e50, 1e50}},
		"identity":                {Root: true, UnitRows: true},
	} {
		m.Dim = 2
		for _, m.UnitImages = range []bool{false, true} {
			for i := range 6 {
				z, err := m.Apply(single(queries.Slice(i, i+1, 0, 2).(*mat.Dense)))
				if (err == nil) != (m.Check() == nil) {
					t.Errorf("%s: query %d: %v, %v", name, i, z, err)
				}
				for _, v := range z.Data {
					if v-v != 0 {
						t.Errorf("%s: the image of query %d is %v", name, i, z.Data)
					}
				}
			}
		}
	}
}
