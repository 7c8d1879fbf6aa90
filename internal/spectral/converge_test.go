package spectral

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// given is an operator whose weights are a matrix: Converge needs only the
// product.
type given struct {
	kernel.Operator
	w       *mat.SymDense
	degrees []float64
}

func newGiven(n int, weight func(i, j int) float64) *given {
	g := &given{w: mat.NewSymDense(n, nil), degrees: make([]float64, n)}
	for i := range n {
		for j := i + 1; j < n; j++ {
			g.w.SetSym(i, j, weight(i, j))
		}
	}
	for i := range n {
		for j := range n {
			g.degrees[i] += g.w.At(i, j)
		}
	}
	return g
}

func (g *given) N() int             { return len(g.degrees) }
func (g *given) Order() []uint32    { return nil }
func (g *given) Degrees() []float64 { return g.degrees }
func (g *given) Apply(_ context.Context, dst, x blas32.General) error {
	for i := range x.Rows {
		for c := range x.Cols {
			sum := 0.0
			for j := range x.Rows {
				sum += g.w.At(i, j) * float64(row(x, j)[c])
			}
			row(dst, i)[c] = float32(sum)
		}
	}
	return nil
}

// reference returns M of the definition, the degrees D, and its eigenvalues and
// eigenvectors from the largest on, the constant u = D^(1/2) 1 moved to -2.
func reference(t interface{ Fatalf(string, ...any) }, op kernel.Operator, labels []int32, beta float64) (m *mat.SymDense, degree, values []float64, vectors *mat.Dense) {
	n := op.N()
	w := mat.NewDense(n, n, nil)
	one, column := newMatrix(n, 1), newMatrix(n, 1)
	sum := 0.0
	for j := range n {
		clear(one.Data)
		one.Data[j] = 1
		if err := op.Apply(context.Background(), column, one); err != nil {
			t.Fatalf("%v", err)
		}
		for i, v := range column.Data {
			w.Set(given1(op, i), given1(op, j), float64(v))
			sum += float64(v)
		}
	}
	if sum > 0 {
		w.Scale(float64(n)/sum, w)
	}
	count := map[int32]float64{}
	for _, y := range labels {
		count[y]++
	}
	for i, y := range labels {
		for j := range labels {
			if i != j && y >= 0 && y == labels[j] {
				w.Set(i, j, w.At(i, j)+beta/(count[y]-1))
			}
		}
	}
	degree = make([]float64, n)
	for i := range n {
		degree[i] = mat.Sum(w.RowView(i))
	}
	m = mat.NewSymDense(n, nil)
	volume := mat.Sum(mat.NewVecDense(n, degree))
	deflated := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			if degree[i] > 0 && degree[j] > 0 {
				root := math.Sqrt(degree[i] * degree[j])
				m.SetSym(i, j, (w.At(i, j)+w.At(j, i))/2/root)
				deflated.SetSym(i, j, m.At(i, j)-3*root/volume)
			}
		}
		if degree[i] == 0 {
			deflated.SetSym(i, i, -2)
		}
	}
	values, vectors, err := falling(deflated)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m, degree, values, vectors
}

// given1 returns the point of row i of an operator.
func given1(op kernel.Operator, i int) int {
	if op.Order() == nil {
		return i
	}
	return int(op.Order()[i])
}

// checkEigenmap compares a result with the definition.
func checkEigenmap(t interface{ Fatalf(string, ...any) }, got *Eigenvectors, m *mat.SymDense, degree, values []float64, vectors *mat.Dense, tolerance float64) {
	n, k := got.Points.Rows, got.Points.Cols
	if got.Status != iterate.Converged {
		t.Fatalf("%v after %d products, residuals %.2g", got.Status, got.Products, got.Residuals)
	}
	u := mat.NewDense(n, k, nil)
	for j := range k {
		if math.Abs(got.Values[j]-values[j]) > 2*tolerance {
			t.Fatalf("eigenvalue %d: %.7f, want %.7f", j, got.Values[j], values[j])
		}
		low, high := float32(0), float32(0)
		for i := range n {
			v := row(got.Points, i)[j]
			low, high = min(low, v), max(high, v)
			if degree[i] == 0 && v != 0 {
				t.Fatalf("isolated row %d has %g", i, v)
			}
			u.Set(i, j, math.Sqrt(degree[i])*float64(v)/got.Values[j])
		}
		if -low > high*(1+1e-6) {
			t.Fatalf("the entries of column %d are from %g to %g", j, low, high)
		}
		column := mat.Col(nil, j, u)
		var r mat.VecDense
		r.MulVec(m, mat.NewVecDense(n, column))
		r.AddScaledVec(&r, -values[j], mat.NewVecDense(n, column))
		if norm := mat.Norm(u.ColView(j), 2); math.Abs(norm-1) > 1e-4 {
			t.Fatalf("column %d has norm %g", j, norm)
		}
		if e := mat.Norm(&r, 2); e > 1.5*tolerance+2e-6 {
			t.Fatalf("column %d has a residual of %g", j, e)
		}
	}
	var gram mat.Dense
	gram.Mul(u.T(), u)
	for i := range k {
		for j := range i {
			if math.Abs(gram.At(i, j)) > 1e-4 {
				t.Fatalf("columns %d and %d have the product %g", i, j, gram.At(i, j))
			}
		}
	}
	// Where a gap separates the wanted eigenvalues from the rest, the subspaces
	// are the same: the sine of their angle is at most the residual over the gap.
	if gap := values[k-1] - values[k]; gap > 0.01 {
		wanted := vectors.Slice(0, n, 0, k)
		var inside, outside mat.Dense
		inside.Mul(wanted.T(), u)
		outside.Mul(wanted, &inside)
		outside.Sub(u, &outside)
		if sine := mat.Norm(&outside, 2); sine > 2*math.Sqrt(float64(k))*(tolerance+2e-6)/gap {
			t.Fatalf("the subspace is off by an angle of sine %g, gap %g", sine, gap)
		}
	}
}

// Eigenvalues, residuals and subspaces against gonum's dense solver, on every
// operator, with labels and without.
func TestConvergeAgainstDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(12, 90).Draw(t, "n")
		k := rapid.IntRange(1, 10).Draw(t, "k")
		p := random(rng, n, rapid.SampledFrom([]int{1, 2, 9}).Draw(t, "d"))
		if rapid.Bool().Draw(t, "duplicates") {
			copy(p.Data[p.Cols*(n-5):], p.Data[:p.Cols*5])
		}
		beta := rapid.SampledFrom([]float64{0, 1, 3}).Draw(t, "beta")
		step, labels := kernel.Step{Form: kernel.Attract, Coefficient: beta}, []int32(nil)
		if beta > 0 {
			labels = make([]int32, n)
			for i := range labels {
				labels[i] = int32(rng.IntN(5)) - 1
			}
			var err error
			if step.Labels, err = kernel.NewLabels(labels, kernel.BalancedTable(), true); err != nil {
				t.Fatalf("%v", err)
			}
		}
		name := rapid.SampledFrom([]string{"dense", "csr"}).Draw(t, "operator")
		op, err := kernel.Build(t.Context(), p, kernel.Sigma(rapid.SampledFrom([]float64{0.3, 1}).Draw(t, "sigma")), &kernel.Options{Operator: name})
		if err != nil {
			t.Fatalf("%v", err)
		}
		m, degree, values, vectors := reference(t, op, labels, beta)
		// This test leaves out rows that the walk omits only because of rounding,
		// columns that are zero because their eigenvalue is, and wanted eigenvalues
		// within a cluster larger than the block.
		for _, d := range degree {
			if d < 1e-12 {
				return
			}
		}
		if math.Abs(values[k-1]) < 1e-3 || k+guardColumns < n-1 && values[k-1]-values[k+guardColumns] < 0.02 {
			return
		}
		got, err := Converge(t.Context(), op, step, &ConvergeSettings{Dim: k})
		if err != nil {
			t.Fatalf("%v", err)
		}
		checkEigenmap(t, got, m, degree, values, vectors, 1e-5)
	})
}

// A block of ten columns for thirteen rows, in which two eigenvectors are found before
// any filter, for 1 and 0.99997, although 1 occurs three times.
func TestConvergeFindsTheLeading(t *testing.T) {
	p := random(rand.New(rand.NewPCG(0, 1)), 13, 2)
	copy(p.Data[16:], p.Data[:10])
	op, err := kernel.Build(t.Context(), p, kernel.Sigma(0.3), &kernel.Options{Operator: "csr"})
	if err != nil {
		t.Fatal(err)
	}
	m, degree, values, vectors := reference(t, op, nil, 0)
	got, err := Converge(t.Context(), op, kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	checkEigenmap(t, got, m, degree, values, vectors, 1e-5)
}

// A block of all eigenvectors needs no filter, and so only one product.
func TestConvergeInOneProjection(t *testing.T) {
	op := rings(7)
	m, degree, values, vectors := reference(t, op, nil, 0)
	got, err := Converge(t.Context(), op, kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: 2, MaxProducts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != iterate.Converged || got.Products != 1 {
		t.Errorf("%v after %d products", got.Status, got.Products)
	}
	checkEigenmap(t, got, m, degree, values, vectors, 1e-5)
}

func rings(sizes ...int) *given {
	n, first := 0, []int{0}
	for _, s := range sizes {
		n += s
		first = append(first, n)
	}
	part := func(i int) int { p, _ := slices.BinarySearch(first, i+1); return p - 1 }
	return newGiven(n, func(i, j int) float64 {
		if p := part(i); p == part(j) && (j == i+1 || j-i == sizes[p]-1) {
			return 1
		}
		return 0
	})
}

// Graphs whose spectrum is known or awkward.
func TestConvergeOnAwkwardGraphs(t *testing.T) {
	complete := newGiven(30, func(int, int) float64 { return 1 })
	isolated := newGiven(40, func(i, j int) float64 {
		if i%4 == 0 || j%4 == 0 {
			return 0
		}
		return math.Exp(-float64(j-i) / 5)
	})
	pairs := newGiven(60, func(i, j int) float64 {
		if i%2 == 0 && j == i+1 {
			return 1
		}
		return 0
	})
	for _, c := range []struct {
		name   string
		op     *given
		k      int
		values []float64
	}{
		{"ring: pairs of equal eigenvalues", rings(50), 4, []float64{math.Cos(2 * math.Pi / 50), math.Cos(2 * math.Pi / 50), math.Cos(4 * math.Pi / 50), math.Cos(4 * math.Pi / 50)}},
		{"three components", rings(9, 11, 13), 3, []float64{1, 1, math.Cos(2 * math.Pi / 13)}},
		{"more components than columns", pairs, 5, []float64{1, 1, 1, 1, 1}},
		{"one eigenvalue and no other", complete, 3, []float64{-1. / 29, -1. / 29, -1. / 29}},
		{"isolated rows", isolated, 6, nil},
		{"all there are", rings(6), 5, []float64{0.5, 0.5, -0.5, -0.5, -1}},
		{"two rows", rings(2), 1, []float64{-1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Converge(t.Context(), c.op, kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: c.k})
			if err != nil {
				t.Fatal(err)
			}
			m, degree, values, vectors := reference(t, c.op, nil, 0)
			for j, v := range c.values {
				if math.Abs(values[j]-v) > 1e-12 {
					t.Fatalf("the reference has eigenvalue %g, want %g", values[j], v)
				}
			}
			checkEigenmap(t, got, m, degree, append(values, -2), vectors, 1e-5)
		})
	}
	got, err := Converge(t.Context(), isolated, kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: 2})
	if err != nil || got.Isolated != 10 {
		t.Errorf("%d isolated rows, want 10: %v", got.Isolated, err)
	}
}

func TestConvergeBitsDoNotDependOnWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	p := random(rng, 700, 3)
	labels := labelsOf(t, rng, 700, kernel.BalancedTable())
	for _, level := range []simd.Level{simd.Generic, simd.Best()} {
		var want []float32
		for _, count := range []int{1, 2, 5} {
			workers := par.New(count)
			op, err := kernel.Build(t.Context(), p, kernel.Sigma(0.3), &kernel.Options{Operator: "csr", Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Converge(t.Context(), op, kernel.Step{Form: kernel.Attract, Labels: labels, Coefficient: 1}, &ConvergeSettings{Dim: 6, Tolerance: 1e-3, Workers: workers, Kernels: simd.At(level)})
			workers.Close()
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got.Points.Data
			} else if !slices.Equal(got.Points.Data, want) {
				t.Errorf("level %v: %d workers make other bits", level, count)
			}
		}
	}
}

func TestConvergeUnitRowsAndProgress(t *testing.T) {
	op := rings(40)
	var records []ConvergeRecord
	got, err := Converge(t.Context(), op, kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: 3, UnitRows: true, Progress: func(r ConvergeRecord) { records = append(records, r) }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Points.Rows {
		norm := 0.0
		for _, v := range row(got.Points, i) {
			norm += float64(v) * float64(v)
		}
		if math.Abs(norm-1) > 1e-6 {
			t.Errorf("row %d has the squared norm %g", i, norm)
		}
	}
	last := records[len(records)-1]
	if last.Converged != 3 || last.Products != got.Products || last.Residual > 1e-5 {
		t.Errorf("last record %+v, %d products", last, got.Products)
	}
}

func TestConvergeStopsAtTheLimit(t *testing.T) {
	got, err := Converge(t.Context(), rings(300), kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: 4, MaxProducts: 12})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != iterate.StepLimit || got.Products > 12 || got.Residuals[3] <= 1e-5 {
		t.Errorf("%v after %d products, residuals %g", got.Status, got.Products, got.Residuals)
	}
}

func TestConvergeRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	step := kernel.Step{Form: kernel.Attract}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	own := make([]int32, 60) // a class for each row
	for i := range own {
		own[i] = int32(i)
	}
	distinct, err := kernel.NewLabels(own, kernel.EqualTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		ctx  context.Context
		op   kernel.Operator
		step kernel.Step
		s    *ConvergeSettings
		want error
	}{
		{"no columns", t.Context(), rings(9), step, nil, kernel.ErrOption},
		{"tolerance", t.Context(), rings(9), step, &ConvergeSettings{Dim: 1, Tolerance: math.NaN()}, kernel.ErrOption},
		{"products", t.Context(), rings(9), step, &ConvergeSettings{Dim: 1, MaxProducts: -1}, kernel.ErrOption},
		{"form", t.Context(), rings(9), kernel.Step{}, &ConvergeSettings{Dim: 1}, kernel.ErrOption},
		{"too many columns", t.Context(), rings(9), step, &ConvergeSettings{Dim: 9}, kernel.ErrShape},
		{"absurdly many columns", t.Context(), rings(9), step, &ConvergeSettings{Dim: math.MaxInt}, kernel.ErrShape},
		{"too many for those with neighbours", t.Context(), newGiven(9, func(i, j int) float64 { return float64(min(1, 1/(i+j))) }), step, &ConvergeSettings{Dim: 2}, kernel.ErrShape},
		{"no weights at all", t.Context(), newGiven(9, func(int, int) float64 { return 0 }), step, &ConvergeSettings{Dim: 1}, kernel.ErrShape},
		{"memory", t.Context(), rings(9), step, &ConvergeSettings{Dim: 3, MaxMemory: 1000}, kernel.ErrMemory},
		{"memory that others have", t.Context(), rings(9), step, &ConvergeSettings{Dim: 3, Reserve: func(bytes int64) bool { return bytes < 1000 }}, kernel.ErrMemory},
		{"memory for classes", t.Context(), rings(60), kernel.Step{Form: kernel.Attract, Labels: distinct, Coefficient: 1}, &ConvergeSettings{Dim: 3, MaxMemory: 90_000}, kernel.ErrMemory},
		{"labels", t.Context(), rings(9), kernel.Step{Form: kernel.Attract, Labels: labelsOf(t, rng, 8, kernel.BalancedTable()), Coefficient: 1}, &ConvergeSettings{Dim: 1}, kernel.ErrLabels},
		{"cancelled", cancelled, rings(9), step, &ConvergeSettings{Dim: 1}, context.Canceled},
	} {
		if _, err := Converge(c.ctx, c.op, c.step, c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		} else if text := err.Error(); strings.Count(text, "iterate: converge: ") != 1 || strings.Count(text, "iterate: ") != 1 {
			t.Errorf("%s: %q does not name its origin once", c.name, text)
		}
	}
}
