package kernel

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// unitKinds are directions that are hard on distances; they need not be of
// unit norm.
var unitKinds = map[string]func(rng *rand.Rand, i, d int, row []float64, before [][]float64){
	"random": func(rng *rand.Rand, _, _ int, row []float64, _ [][]float64) { gaussianRow(rng, row) },
	"clustered": func(rng *rand.Rand, i, _ int, row []float64, before [][]float64) {
		gaussianRow(rng, row)
		if i >= 3 { // from far apart to a few units in the last place
			spread := math.Pow(10, -16*rng.Float64())
			for c, v := range before[rng.IntN(3)] {
				row[c] = v + spread*row[c]
			}
		}
	},
	"copies": func(rng *rand.Rand, i, _ int, row []float64, before [][]float64) {
		gaussianRow(rng, row)
		if i >= 2 && rng.IntN(3) > 0 {
			copy(row, before[rng.IntN(i)])
		}
	},
	"opposite": func(rng *rand.Rand, i, _ int, row []float64, before [][]float64) {
		gaussianRow(rng, row)
		if i%2 == 1 {
			for c, v := range before[i-1] {
				row[c] = -v
			}
		}
	},
	"axes": func(rng *rand.Rand, _, d int, row []float64, _ [][]float64) { // distances 0, sqrt 2 and 2 exactly
		row[rng.IntN(d)] = float64(2*rng.IntN(2) - 1)
	},
	"lattice": func(rng *rand.Rand, _, d int, row []float64, _ [][]float64) { // few distances, many at a radius
		row[rng.IntN(d)] = 3
		row[rng.IntN(d)] += float64(4 * (rng.IntN(3) - 1))
		if slices.Max(row) == 0 && slices.Min(row) == 0 {
			row[0] = 1
		}
	},
}

func gaussianRow(rng *rand.Rand, row []float64) {
	for c := range row {
		row[c] = rng.NormFloat64()
	}
}

var unitKindNames = []string{"random", "clustered", "copies", "opposite", "axes", "lattice"}

// makeUnit returns n directions of a kind, row null being zero unless negative.
func makeUnit(kind string, n, d, null int, seed uint64) blas64.General {
	rng := pointtest.Rand(seed)
	p := pointtest.Zeros64(n, d)
	var rows [][]float64
	for i := range n {
		row := p.Data[i*d:][:d]
		unitKinds[kind](rng, i, d, row, rows)
		rows = append(rows, row)
	}
	if null >= 0 {
		clear(rows[null])
	}
	return p
}

func unitRows(t pointtest.Tester, p blas64.General) *UnitRows {
	t.Helper()
	r, err := NewUnitRows(p, UnitOptions{Normalize: true, Nulls: 1})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// drawUnit draws a hard set of at least two rows, with or without a null record.
func drawUnit(t *rapid.T, most int, dims []int) *UnitRows {
	kind := rapid.SampledFrom(unitKindNames).Draw(t, "kind")
	n := rapid.IntRange(2, most).Draw(t, "n")
	d := rapid.SampledFrom(dims).Draw(t, "d")
	null := -1
	if rapid.Bool().Draw(t, "has null") {
		null = rapid.IntRange(0, n-1).Draw(t, "null")
	}
	return unitRows(t, makeUnit(kind, n, d, null, rapid.Uint64().Draw(t, "seed")))
}

var unitDims = []int{1, 2, 3, 8, 9, 16, 40}

// plainUnit is the definition of the weights between unit rows.
func plainUnit(r *UnitRows, b Bandwidth) [][]float64 {
	w := make([][]float64, r.N())
	for i := range w {
		w[i] = make([]float64, r.N())
		for j := range w[i] {
			switch {
			case i == j:
			case r.Null(i) || r.Null(j):
				w[i][j] = math.Exp(-b.Gamma())
			default:
				w[i][j] = math.Exp(-b.Gamma() * min(rows.Dist2(r.own.Rows.Row(i), r.own.Rows.Row(j)), 4))
			}
		}
	}
	return w
}

func TestUnitRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 20).Draw(t, "d")
		entry := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), 5e-324, -1e-310, 1e-200, 1e-160, 1e-154, 1e150, -1e160, 1e300, math.MaxFloat64, -math.MaxFloat64,
		}))
		row := rapid.SliceOfN(entry, d, d).Draw(t, "row")
		r, err := NewUnitRows(blas64.General{Rows: 1, Cols: d, Stride: d, Data: row}, UnitOptions{Normalize: true, Nulls: 1})
		if err != nil {
			t.Fatalf("%v", err)
		}
		largest := 0.0
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
		if r.Null(0) != (largest == 0) {
			t.Fatalf("null = %v", r.Null(0))
		}
		if largest == 0 {
			return
		}
		// Sums of squares of numbers next to 1.
		sum, scaled := 0.0, 0.0
		for c, v := range r.own.Rows.Row(0) {
			sum += v * v
			scaled += (row[c] / largest) * (row[c] / largest)
		}
		if math.Abs(sum-1) > float64(d+8)*0x1p-52 {
			t.Fatalf("|row|^2 = 1%+.3g", sum-1)
		}
		for c, v := range r.own.Rows.Row(0) {
			if want := row[c] / largest / math.Sqrt(scaled); math.Abs(v-want) > float64(d+8)*0x1p-52 {
				t.Fatalf("entry %d = %v, want %v", c, v, want)
			}
		}
	})
}

// What becomes of a record does not depend on the others, nor on the type it
// came in.
func TestUnitRowsOneByOne(t *testing.T) {
	p := pointtest.Make("uniform", 30, 7, 3)
	clear(p.Data[5*7 : 6*7])
	all, err := NewUnitRows(p, UnitOptions{Normalize: true, Nulls: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Rows {
		one := unitRows(t, pointtest.Widen(blas32.General{Rows: 1, Cols: 7, Stride: 7, Data: p.Data[i*7:][:7]}))
		if !slices.Equal(one.own.Rows.Row(0), all.own.Rows.Row(i)) || one.Null(0) != all.Null(i) {
			t.Errorf("row %d differs", i)
		}
	}
	if all.N() != 30 || all.own.Dim() != 7 || !all.Null(5) || all.Null(4) || all.Null(-1) {
		t.Errorf("N %d, Dim %d, null %v", all.N(), all.own.Dim(), all.own.NullRow)
	}
}

func TestUnitRowsRefused(t *testing.T) {
	matrix := func(d int, data ...float64) blas64.General {
		return blas64.General{Rows: len(data) / d, Cols: d, Stride: d, Data: data}
	}
	for _, c := range []struct {
		name     string
		features blas64.General
		options  UnitOptions
		want     error
	}{
		{"accepted", matrix(2, .6, .8, 1+.9e-6, 0, 0, 1-.9e-6), UnitOptions{}, nil},
		{"one null", matrix(2, 0, 0, 0, 1), UnitOptions{Nulls: 1}, nil},
		{"too long", matrix(2, 1, 0, 1+1.1e-6, 0), UnitOptions{}, ErrUnitNorm},
		{"too short", matrix(2, 1, 0, 0, 1-1.1e-6), UnitOptions{Nulls: 1}, ErrUnitNorm},
		{"norm overflows", matrix(2, math.MaxFloat64, math.MaxFloat64), UnitOptions{}, ErrUnitNorm},
		{"tiny is not null", matrix(2, 5e-324, 0), UnitOptions{Nulls: 1}, ErrUnitNorm},
		{"null", matrix(2, 1, 0, 0, 0), UnitOptions{Normalize: true}, points.ErrZeroRow},
		{"two nulls", matrix(2, 0, 0, 0, 0), UnitOptions{Nulls: 1}, points.ErrZeroRow},
		{"NaN", matrix(2, 1, 0, math.NaN(), 0), UnitOptions{Normalize: true}, ErrNonFinite},
		{"infinity", matrix(2, 1, 0, 0, math.Inf(-1)), UnitOptions{Normalize: true}, ErrNonFinite},
		{"empty", blas64.General{}, UnitOptions{}, ErrEmpty},
		{"shape", blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 0, 1}}, UnitOptions{}, ErrShape},
		{"nulls", matrix(1, 1), UnitOptions{Nulls: 2}, ErrOption},
		{"negative nulls", matrix(1, 1), UnitOptions{Nulls: -1}, ErrOption},
		{"negative limit", matrix(1, 1), UnitOptions{MaxMemory: -1}, ErrOption},
		{"limit", matrix(2, 1, 0), UnitOptions{MaxMemory: 15}, ErrMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := NewUnitRows(c.features, c.options)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || (r == nil) != (c.want != nil) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
		})
	}
	_, err := NewUnitRows(matrix(2, 1, 0, .25, .125), UnitOptions{})
	var norm *UnitNormError
	if !errors.As(err, &norm) || norm.Row != 1 || strings.Contains(err.Error(), "25") {
		t.Errorf("error %v", err)
	}
	var zero *points.ZeroRowError
	if _, err = NewUnitRows(matrix(2, 0, 0, 1, 0, 0, 0), UnitOptions{Nulls: 1}); !errors.As(err, &zero) || zero.Row != 2 {
		t.Errorf("error %v", err)
	}
}

func TestUnitDenseEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawUnit(t, 60, unitDims)
		b := Sigma(math.Exp(rapid.Float64Range(math.Log(.06), math.Log(50)).Draw(t, "log sigma")))
		op, err := r.Dense(t.Context(), b, nil)
		if err != nil {
			t.Fatalf("%v", err)
		}
		n := r.N()
		identity, got := pointtest.Zeros64(n, n), pointtest.Zeros64(n, n)
		for i := range n {
			identity.Data[i*n+i] = 1
		}
		if err := op.Apply64(t.Context(), got, identity); err != nil {
			t.Fatalf("%v", err)
		}
		rel := op.Certificate().EntryRel
		for i, row := range plainUnit(r, b) {
			degree := 0.0
			for j, want := range row {
				v := got.Data[i*n+j]
				if math.Abs(v-want) > 2*rel*want {
					t.Fatalf("w(%d, %d) = %v, want %v", i, j, v, want)
				}
				if v != got.Data[j*n+i] {
					t.Fatalf("w(%d, %d) is not w(%d, %d)", i, j, j, i)
				}
				if i != j && (v < math.Exp(-4*b.Gamma()) || v > 1) {
					t.Fatalf("w(%d, %d) = %v is out of range", i, j, v)
				}
				if i != j && (r.Null(i) || r.Null(j)) && v != math.Exp(-b.Gamma()) {
					t.Fatalf("w(%d, %d) = %v, want rho", i, j, v)
				}
				degree += want
			}
			if d := op.Degrees()[i]; math.Abs(d-degree) > (2*rel+1e-14)*degree {
				t.Fatalf("degree %d = %v, want %v", i, d, degree)
			}
		}
		if c := op.Certificate(); c.Isolated != 0 || c.Kind != Exact {
			t.Fatalf("certificate %v", c)
		}
	})
}

// The clamp is on the computed distance and on the computed exponential.
func TestUnitWeightsStayInRange(t *testing.T) {
	rng := pointtest.Rand(4)
	for range 20000 {
		b := Gamma(math.Exp(rng.Float64()*40 - 35))
		u := distance.UnitWeights{Bandwidth: b.own, Low: b.Weight(4), Rho: b.Weight(1), Null: -1}
		distances := []float64{-1, -1e-15, 0, 1e-300, 1e-17, 4 * rng.Float64(), 4 - 4e-16, 4, 4 + 1e-15, 5}
		for _, d2 := range distances {
			if w := u.At(d2); w < b.Weight(4) || w > 1 {
				t.Fatalf("weight %v at %v, gamma %v", w, d2, b.Gamma())
			}
		}
		if 4*b.Gamma() > distance.MaxUnitExponent {
			continue
		}
		row := slices.Clone(distances[2:]) // those of a block are not negative
		u.Weigh(simd.At(simd.Best()), row, 0, 1)
		for j, w := range row {
			if w < b.Weight(4) || w > 1 {
				t.Fatalf("weight %v at %v in a row, gamma %v", w, distances[2+j], b.Gamma())
			}
		}
	}
	// Rows whose computed distances leave [0, 4] do occur.
	above := 0
	for seed := range uint64(200) {
		p := unitRows(t, makeUnit("opposite", 2, 33, -1, seed)).own.Points()
		q, err := distance.NewUnitDistancer(t.Context(), p, nil, simd.At(simd.Best()))
		if err != nil {
			t.Fatal(err)
		}
		room := distance.NewDistanceScratch(q)
		q.Fill(room, 0, 2, 0, 2)
		if room.D2[1] > 4 || q.Exact(0, 1) > 4 {
			above++
		}
	}
	if above == 0 {
		t.Error("no distance above 2 was tried")
	}
}

func TestUnitOperatorsRefuse(t *testing.T) {
	r := unitRows(t, makeUnit("random", 5, 3, -1, 1))
	for _, c := range []struct {
		name string
		rows *UnitRows
		b    Bandwidth
		opt  *Options
		want error
	}{
		{"no rows", nil, Sigma(1), nil, ErrEmpty},
		{"zero rows", &UnitRows{}, Sigma(1), nil, ErrEmpty},
		{"no bandwidth", r, Bandwidth{}, nil, ErrBandwidth},
		{"narrow bandwidth", r, Sigma(.0534), nil, ErrBandwidth},
		{"bad option", r, Sigma(1), &Options{Tolerance: 2}, ErrOption},
		{"limit", r, Sigma(1), &Options{MaxMemory: 100}, ErrMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.rows.Dense(t.Context(), c.b, c.opt); !errors.Is(err, c.want) {
				t.Errorf("dense: %v, want %v", err, c.want)
			}
			if _, err := c.rows.Background(t.Context(), c.b, 1, math.Exp(-2*c.b.Gamma()), c.opt); !errors.Is(err, c.want) {
				t.Errorf("background: %v, want %v", err, c.want)
			}
		})
	}
	// The smallest bandwidth there is: weights of 1e-304, and nobody isolated.
	op, err := unitRows(t, makeUnit("opposite", 2, 12, -1, 1)).Dense(t.Context(), Sigma(.0535), &Options{Isolated: Fail})
	if err != nil || !(op.Degrees()[0] > 0) {
		t.Errorf("error %v", err)
	}
}

// unitOperators returns both operators on the same rows.
func unitOperators(t pointtest.Tester, r *UnitRows, b Bandwidth, radius float64, workers *par.Workers) []Operator64 {
	t.Helper()
	opt := &Options{Workers: workers}
	dense, err := r.Dense(t.Context(), b, opt)
	if err != nil {
		t.Fatalf("%v", err)
	}
	weight := (b.Weight(4) + b.Weight(radius*radius)) / 2
	background, err := r.Background(t.Context(), b, radius, weight, opt)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return []Operator64{dense, background}
}

// firstStep64 returns the first step from q in float64.
func firstStep64(t pointtest.Tester, op Operator64, q blas64.General, y []int32, table Table, alpha float64) blas64.General {
	t.Helper()
	labels, err := NewLabels(y, table, false)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var st Stats
	if err := st.Gather64(q, labels); err != nil {
		t.Fatalf("%v", err)
	}
	f := pointtest.Zeros64(q.Rows, q.Cols)
	if err := op.Step64(t.Context(), f, q, &Step{Form: Paper, Labels: labels, Coefficient: alpha}, &st); err != nil {
		t.Fatalf("%v", err)
	}
	return f
}

func randomBlock64(rng *rand.Rand, n, k int) blas64.General {
	x := pointtest.Zeros64(n, k)
	gaussianRow(rng, x.Data)
	return x
}

func TestUnitOperatorsSameBitsForAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	const n = 1100
	for _, d := range []int{3, 20} {
		r := unitRows(t, makeUnit("clustered", n, d, 700, 5))
		rng := pointtest.Rand(9)
		q, y := randomBlock64(rng, n, 3), pointtest.RandomLabels(rng, n, 5, false)
		var want []blas64.General
		var degrees [][]float64
		for _, count := range []int{1, 2, 8} {
			workers := par.New(count)
			for o, op := range unitOperators(t, r, Sigma(.5), 1.1, workers) {
				got := firstStep64(t, op, q, y, EqualTable(), 0.6)
				if count == 1 {
					want, degrees = append(want, got), append(degrees, op.Degrees())
					continue
				}
				if !slices.Equal(got.Data, want[o].Data) || !slices.Equal(op.Degrees(), degrees[o]) {
					t.Errorf("d=%d %s: %d workers change the result", d, op.Name(), count)
				}
			}
			workers.Close()
		}
	}
}

func TestUnitStepAllocatesNothing(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	const n = 1100
	rng := pointtest.Rand(9)
	q, f := randomBlock64(rng, n, 3), pointtest.Zeros64(n, 3)
	x, out := pointtest.RandomBlock(rng, n, 3), pointtest.Zeros32(n, 3)
	labels, err := NewLabels(pointtest.RandomLabels(rng, n, 5, false), EqualTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	step := &Step{Labels: labels, Coefficient: 0.1}
	ctx := t.Context()
	for _, op := range unitOperators(t, unitRows(t, makeUnit("clustered", n, 12, 7, 5)), Sigma(1), 0.5, workers) {
		var st, st64 Stats
		if err := errors.Join(st.Gather(x, labels), st64.Gather64(q, labels)); err != nil {
			t.Fatal(err)
		}
		for name, run := range map[string]func() error{
			"Step":   func() error { return op.Step(ctx, out, x, step, &st) },
			"Step64": func() error { return op.Step64(ctx, f, q, step, &st64) },
		} {
			if allocs := testing.AllocsPerRun(3, func() { err = errors.Join(err, run()) }); allocs != 0 || err != nil {
				t.Errorf("%s: %s: %v allocations, error %v", op.Name(), name, allocs, err)
			}
		}
	}
}

// Rows beyond one chunk have the same bits for any number of workers, and the first row
// that is refused is named.
func TestUnitRowsInChunks(t *testing.T) {
	const n, d = 3*base.ChunkRows + 5, 3
	p := pointtest.Widen(pointtest.Make("uniform", n, d, 4))
	alone, err := NewUnitRows(p, UnitOptions{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		crew := par.New(workers)
		defer crew.Close()
		shared, err := NewUnitRows(p, UnitOptions{Normalize: true, Workers: crew})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(shared.own.Rows.Data, alone.own.Rows.Data) {
			t.Errorf("%d workers: other bits", workers)
		}
		for _, c := range []struct {
			zeros, long []int
			o           UnitOptions
			null        int // the null record where nothing is refused
			zero, norm  int // the row that is refused, or -1
		}{
			{nil, nil, UnitOptions{}, -1, -1, -1},
			{[]int{2000}, nil, UnitOptions{Nulls: 1}, 2000, -1, -1},
			{[]int{2000}, nil, UnitOptions{}, -1, 2000, -1},
			{[]int{1500, 1501}, nil, UnitOptions{Nulls: 1}, -1, 1501, -1},
			{[]int{10, 1501, 1502}, nil, UnitOptions{Nulls: 1}, -1, 1501, -1},
			{[]int{10, 1501}, []int{1500, 3000}, UnitOptions{Nulls: 1}, -1, -1, 1500},
			{[]int{10, 1499}, []int{1500}, UnitOptions{Nulls: 1}, -1, 1499, -1},
			{[]int{10, 2500}, []int{20}, UnitOptions{Nulls: 1, Normalize: true}, -1, 2500, -1},
			{[]int{2500}, []int{20, 2600}, UnitOptions{Nulls: 1, Normalize: true}, 2500, -1, -1},
			{[]int{2500}, []int{2501}, UnitOptions{}, -1, 2500, -1},
		} {
			rows := blas64.General{Rows: n, Cols: d, Stride: d, Data: slices.Clone(alone.own.Rows.Data)}
			for _, i := range c.zeros {
				clear(rows.Data[i*d:][:d])
			}
			for _, i := range c.long {
				rows.Data[i*d] += 2
			}
			c.o.Workers = crew
			r, err := NewUnitRows(rows, c.o)
			var zero *points.ZeroRowError
			var norm *UnitNormError
			switch {
			case c.zero >= 0 && (!errors.As(err, &zero) || zero.Row != c.zero),
				c.norm >= 0 && (!errors.As(err, &norm) || norm.Row != c.norm),
				c.zero < 0 && c.norm < 0 && (err != nil || r.own.NullRow != c.null):
				t.Errorf("%d workers, zeros %v, long %v: %v", workers, c.zeros, c.long, err)
			}
		}
	}
}
