package supervised_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/points"
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

func newEngine(t *testing.T) *privatemail.Engine {
	e, err := privatemail.New()
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

// A R A = I, up to the factor that the norm of a row takes away.
func TestMapWhitensWithinClasses(t *testing.T) {
	const d = 6
	x, labels := labelledRows(60, d, 1)
	m, err := supervised.NewMap(x.RawMatrix(), labels, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := within(x, labels)
	ridge := mat.Trace(r) / d
	for j := range d {
		r.SetSym(j, j, r.At(j, j)+ridge)
	}
	var ar, ara mat.Dense
	ar.Mul(m.A, r)
	ara.Mul(&ar, m.A)
	identity := mat.NewDiagDense(d, []float64{1, 1, 1, 1, 1, 1})
	if !mat.EqualApprox(&ara, identity, 1e-12) || !mat.EqualApprox(m.A, m.A.T(), 1e-14) {
		t.Errorf("A R A is\n%v", mat.Formatted(&ara))
	}
	// Scores of the rows without a label enter the mean.
	for j, v := range m.Mean {
		if want := mat.Sum(x.ColView(j)) / 60; math.Abs(v-want) > 1e-12 {
			t.Errorf("mean %d is %g, want %g", j, v, want)
		}
	}
}

// All generalised eigenvectors are a rotation of A: the same distances. Fewer
// maximise what they should: the columns diagonalise both covariances.
func TestMapOfFewerDimensions(t *testing.T) {
	const d, k = 6, 3
	x, labels := labelledRows(60, d, 2)
	m, err := supervised.NewMap(x.RawMatrix(), labels, k)
	if err != nil {
		t.Fatal(err)
	}
	r, total := within(x, labels), mat.NewSymDense(d, nil)
	ridge := mat.Trace(r) / d
	for j := range d {
		r.SetSym(j, j, r.At(j, j)+ridge)
	}
	for i := range 60 {
		row := mat.NewVecDense(d, nil)
		row.SubVec(x.RowView(i), mat.NewVecDense(d, m.Mean))
		total.SymRankOne(total, 1, row)
	}
	var first, second, left mat.Dense
	left.Mul(m.A.T(), r)
	first.Mul(&left, m.A)
	left.Mul(m.A.T(), total)
	second.Mul(&left, m.A)
	for i := range k {
		for j := range k {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(first.At(i, j)-want) > 1e-10 || i != j && math.Abs(second.At(i, j)) > 1e-8*second.At(0, 0) {
				t.Fatalf("A'RA is\n%v, A'CA\n%v", mat.Formatted(&first), mat.Formatted(&second))
			}
		}
		if i > 0 && second.At(i, i) > second.At(i-1, i-1)*(1+1e-12) {
			t.Errorf("ratio %d rises", i)
		}
	}
	z, err := m.Apply(x.RawMatrix())
	if err != nil {
		t.Fatal(err)
	}
	// In one piece it is the same map.
	with := mat.NewDense(60, d+1, nil)
	with.Apply(func(i, j int, _ float64) float64 {
		if j == d {
			return 1
		}
		return x.At(i, j)
	}, with)
	var whole mat.Dense
	whole.Mul(with, m.Affine())
	for i := range 60 {
		points.Normalize(whole.RawRowView(i))
	}
	if !mat.EqualApprox(&whole, z, 1e-12) {
		t.Error("Affine is another map")
	}
	for i := range 60 {
		if norm := mat.Norm(z.RowView(i), 2); math.Abs(norm-1) > 1e-12 {
			t.Errorf("row %d has norm %g", i, norm)
		}
	}
}

// The objective falls from step to step, with rows that have no label.
func TestFitNeverIncreasesTheObjective(t *testing.T) {
	x, labels := labelledRows(200, 8, 3)
	fit, err := supervised.Fit(t.Context(), newEngine(t), x.RawMatrix(), labels, &supervised.Settings{Steps: 12})
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

// A row without a label and without neighbours stays where the map put it, and
// the labels decide where the others go.
func TestFitMovesRows(t *testing.T) {
	x, labels := labelledRows(100, 8, 4)
	e := newEngine(t)
	fit, err := supervised.Fit(t.Context(), e, x.RawMatrix(), labels, &supervised.Settings{MeanNeighbours: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	stayed := 0
	for i := range 100 {
		var moved mat.VecDense
		moved.SubVec(fit.X.RowView(i), fit.Z.RowView(i))
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
	// The bits are those of any number of workers.
	one, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	again, err := supervised.Fit(t.Context(), one, x.RawMatrix(), labels, &supervised.Settings{MeanNeighbours: 0.1})
	if err != nil || !mat.Equal(fit.X, again.X) || !mat.Equal(fit.Z, again.Z) {
		t.Errorf("one worker makes other bits: %v", err)
	}
	// More neighbours than there are other rows are all of them.
	most, err := supervised.Fit(t.Context(), e, x.RawMatrix(), labels, &supervised.Settings{MeanNeighbours: 99})
	if err != nil {
		t.Fatal(err)
	}
	if more, err := supervised.Fit(t.Context(), e, x.RawMatrix(), labels, &supervised.Settings{MeanNeighbours: 1000}); err != nil || !mat.Equal(most.X, more.X) {
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
	for _, c := range []struct {
		name   string
		ctx    context.Context
		rows   blas64.General
		labels []int32
		s      *supervised.Settings
		want   error
	}{
		{"no labels", t.Context(), x.RawMatrix(), none, nil, supervised.ErrNoPairs},
		{"every row a class", t.Context(), x.RawMatrix(), own, nil, supervised.ErrNoPairs},
		{"equal rows", t.Context(), mat.NewDense(40, 3, nil).RawMatrix(), labels, nil, supervised.ErrNoPairs},
		{"labels missing", t.Context(), x.RawMatrix(), labels[1:], nil, points.ErrShape},
		{"a wrong label", t.Context(), x.RawMatrix(), wrong, nil, kernel.ErrLabels},
		{"no rows", t.Context(), blas64.General{Cols: 3, Stride: 3}, nil, nil, points.ErrShape},
		{"short storage", t.Context(), blas64.General{Rows: 40, Cols: 3, Stride: 3, Data: make([]float64, 7)}, labels, nil, points.ErrShape},
		{"no number", t.Context(), broken.RawMatrix(), labels, nil, points.ErrNonFinite},
		{"columns", t.Context(), x.RawMatrix(), labels, &supervised.Settings{Columns: 4}, points.ErrShape},
		{"negative columns", t.Context(), x.RawMatrix(), labels, &supervised.Settings{Columns: -1}, points.ErrShape},
		{"degree", t.Context(), x.RawMatrix(), labels, &supervised.Settings{MeanNeighbours: -1}, privatemail.ErrSettings},
		{"steps", t.Context(), x.RawMatrix(), labels, &supervised.Settings{Steps: -1}, privatemail.ErrSettings},
		{"beta", t.Context(), x.RawMatrix(), labels, &supervised.Settings{Beta: -1}, privatemail.ErrSettings},
		{"cancelled", cancelled, x.RawMatrix(), labels, nil, context.Canceled},
	} {
		if _, err := supervised.Fit(c.ctx, e, c.rows, c.labels, c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestMapRefuses(t *testing.T) {
	good := supervised.Map{Mean: []float64{1, 2}, A: mat.NewDense(2, 2, []float64{1, 0, 0, 1})}
	row := func(v ...float64) blas64.General {
		return blas64.General{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
	}
	nan, huge := math.NaN(), math.MaxFloat64
	for _, c := range []struct {
		name string
		m    supervised.Map
		rows blas64.General
		want error
	}{
		{"nothing", supervised.Map{}, row(1, 2), points.ErrShape},
		{"sizes of the map", supervised.Map{Mean: []float64{1}, A: good.A}, row(1, 2), points.ErrShape},
		{"mean", supervised.Map{Mean: []float64{nan, 1}, A: good.A}, row(1, 2), points.ErrNonFinite},
		{"matrix", supervised.Map{Mean: good.Mean, A: mat.NewDense(2, 1, []float64{1, nan})}, row(1, 2), points.ErrNonFinite},
		{"overflow", supervised.Map{Mean: good.Mean, A: mat.NewDense(2, 1, []float64{huge, huge})}, row(9, 9), points.ErrNonFinite},
		{"dimension", good, row(1, 2, 3), points.ErrShape},
		{"no number", good, row(1, nan), points.ErrNonFinite},
		{"large mean", supervised.Map{Mean: []float64{huge, 1}, A: good.A}, row(1, 2), points.ErrNonFinite},
	} {
		if _, err := c.m.Apply(c.rows); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Whoever publishes a map must not learn from whether a query comes at all: no
// map that passes Check fails for one query and not for another.
func TestMapFailsForNobodyAlone(t *testing.T) {
	queries := mat.NewDense(4, 2, []float64{0.6, 0.8, 1, 0, 0, 1, -0.6, 0.8})
	for name, m := range map[string]supervised.Map{
		"overflow above a half":   {Mean: []float64{0, 0}, A: mat.NewDense(2, 1, []float64{1.6e154, 0})},
		"underflow below a half":  {Mean: []float64{0, 0}, A: mat.NewDense(2, 1, []float64{5e-324, 0})},
		"zero where a feature is": {Mean: []float64{0, 1}, A: mat.NewDense(2, 1, []float64{0, 1})},
		"zero at one query":       {Mean: []float64{0.6, 0.8}, A: mat.NewDense(2, 2, []float64{1, 0, 0, 1})},
	} {
		for i := range 4 {
			z, err := m.Apply(queries.Slice(i, i+1, 0, 2).(*mat.Dense).RawMatrix())
			if (err == nil) != (m.Check() == nil) {
				t.Errorf("%s: query %d: %v, %v", name, i, z, err)
			}
		}
	}
}

func TestExtend(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 2, 5})
	got, err := supervised.Extend(x, []int{0, 1, 2, 1}, []float64{1, 4, 0, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	near, far := math.Exp(-0.25), math.Exp(-1)
	if want := (near*1 + far*2) / (near + far); math.Abs(got.At(0, 0)-want) > 1e-15 || got.At(1, 0) != 3.5 {
		t.Errorf("%v, want %v and 3.5", mat.Formatted(got), want)
	}
	for _, c := range []struct {
		name    string
		index   []int
		squared []float64
		k       int
		want    error
	}{
		{"k", []int{0}, []float64{1}, 0, points.ErrShape},
		{"nobody", nil, nil, 1, points.ErrShape},
		{"lengths", []int{0, 1, 2}, []float64{1, 1, 1}, 2, points.ErrShape},
		{"distances", []int{0, 1}, []float64{1}, 2, points.ErrShape},
		{"row", []int{3}, []float64{1}, 1, points.ErrShape},
		{"no number", []int{0}, []float64{math.Inf(1)}, 1, points.ErrNonFinite},
		{"negative", []int{0}, []float64{-1}, 1, points.ErrNonFinite},
	} {
		if _, err := supervised.Extend(x, c.index, c.squared, c.k); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
