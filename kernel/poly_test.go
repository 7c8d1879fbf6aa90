package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// exactly returns exp(u) - p(u) of the coefficients as they are, in 160 bits.
func (s series) exactly(u float64) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(160).SetFloat64(v) }
	x, sum, term := number(u), number(1), number(1)
	for r := 1; r < 90; r++ {
		term.Mul(term, x)
		term.Quo(term, number(float64(r)))
		sum.Add(sum, term)
	}
	value := number(0)
	for r := s.order(); r >= 0; r-- {
		value.Mul(value, x)
		value.Add(value, number(s.a[r]))
	}
	e, _ := sum.Sub(sum, value).Float64()
	return e
}

// worst is the largest error on a fine grid and at the ends.
func (s series) worst() float64 {
	most := 0.0
	for i := range 61 {
		most = max(most, math.Abs(s.exactly(s.lo+(s.hi-s.lo)*float64(i)/60)))
	}
	return most
}

func TestSeriesWithinTheirBounds(t *testing.T) {
	t.Parallel()
	for _, span := range [][2]float64{{0, 0}, {-1e-15, 1e-15}, {0, 1e-13}, {-1e-9, 1e-9}, {-1e-3, 1e-3}, {-1. / 36, 1. / 36}, {0, .04}, {-.25, .25}, {-1, 1}, {0, 1}, {-4, 4}, {-16, 16}} {
		for order := range maxPolyOrder + 1 {
			for _, s := range []series{taylorSeries(span[0], span[1], order), chebyshevSeries(span[0], span[1], order)} {
				name := fmt.Sprintf("%v, order %d, taylor %v", span, order, s.taylor)
				if e := s.worst(); e > s.error() {
					t.Errorf("%s: error %g above its bound %g", name, e, s.error())
				}
				for i := range 31 {
					u := span[0] + (span[1]-span[0])*float64(i)/30
					if v := s.at(u); v < s.least()*(1-1e-12)-1e-14 {
						t.Errorf("%s: p(%g) = %g below its bound %g", name, u, v, s.least())
					}
				}
			}
		}
	}
}

// The error of each order for unit rows, computed beforehand: f_i f_j e^u_hi = 1 at a
// cosine of 1. The bounds are the printed ones to their two digits; the errors that
// occur are below them, and near them.
func TestSeriesTable(t *testing.T) {
	for _, c := range []struct {
		sigma  float64
		lo     float64 // of the cosines
		taylor bool
		want   [5]float64
	}{
		{5, -1, true, [5]float64{4.0e-2, 8.0e-4, 1.1e-5, 1.1e-7, 8.5e-10}},
		{5, -1, false, [5]float64{4.0e-2, 4.0e-4, 2.7e-6, 1.3e-8, 5.3e-11}},
		{5, 0, false, [5]float64{2.0e-2, 1.0e-4, 3.3e-7, 8.3e-10, 1.7e-12}},
		{6, -1, false, [5]float64{2.8e-2, 1.9e-4, 8.9e-7, 3.1e-9, 8.6e-12}},
		{2, -1, false, [5]float64{.25, 1.6e-2, 6.5e-4, 2.0e-5, 5.1e-7}},
		{1, -1, false, [5]float64{1.0, .25, 4.2e-2, 5.2e-3, 5.2e-4}},
	} {
		top := 1 / (c.sigma * c.sigma)
		for order, want := range c.want {
			s := chebyshevSeries(c.lo*top, top, order)
			if c.taylor {
				s = taylorSeries(c.lo*top, top, order)
			}
			bound, worst := s.error()*math.Exp(-top), s.worst()*math.Exp(-top)
			if math.Abs(bound-s.slack()-want) > 0.06*want {
				t.Errorf("sigma %g, order %d, taylor %v: bound %.3g, the table has %.3g", c.sigma, order, c.taylor, bound, want)
			}
			if worst > bound || worst < 0.3*bound {
				t.Errorf("sigma %g, order %d, taylor %v: error %.3g, bound %.3g", c.sigma, order, c.taylor, worst, bound)
			}
		}
	}
}

// drawWide draws points and a bandwidth that is wide against them.
func drawWide(t *rapid.T, dims []int) (blas32.General, Bandwidth) {
	p := pointtest.Draw(t, 120, dims)
	rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of the bandwidth"))
	return p, Sigma(pointtest.TypicalDistance(p, rng) * math.Exp2(rapid.Float64Range(-1, 8).Draw(t, "octaves")))
}

func TestPolyWithinItsCertificate(t *testing.T) {
	t.Parallel()
	built := 0
	rapid.Check(t, func(t *rapid.T) {
		p, b := drawWide(t, operatorDims)
		opt := &Options{Tolerance: math.Pow(10, rapid.Float64Range(-9, -0.5).Draw(t, "tolerance"))}
		op, err := NewPoly(t.Context(), p, b, opt)
		if errors.Is(err, ErrTolerance) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		built++
		if worst := op.Certificate().worstConnected(); worst > opt.Tolerance {
			t.Fatalf("eta = %g above the tolerance %g", worst, opt.Tolerance)
		}
		checkAgainstDense(t, op, p, b)
	})
	if built == 0 {
		t.Error("no case was in reach")
	}
}

// Both precisions are the same operator, up to Rounding.
func TestPolyPrecisionsAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, b := drawWide(t, []int{1, 2, 3, 9, 33})
		op, err := NewPoly(t.Context(), p, b, nil)
		if errors.Is(err, ErrTolerance) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		x := randomBlock(pointtest.Rand(5), p.Rows, 3)
		wide := zeros64(p.Rows, 3)
		if err := op.Apply64(t.Context(), wide, widen(x)); err != nil {
			t.Fatalf("%v", err)
		}
		largest := 0.0
		for _, v := range x.Data {
			largest = max(largest, math.Abs(float64(v)))
		}
		for i, v := range apply(t, op, x).Data {
			room := (op.Certificate().Rounding + 0x1p-24) * op.Degrees()[i/3] * largest
			if e := math.Abs(float64(v) - wide.Data[i]); e > room {
				t.Fatalf("row %d: %g and %g differ by %g, above %g", i/3, v, wide.Data[i], e, room)
			}
		}
	})
}

// The moments against the definition: entry by entry, of a given order.
func TestPolyEqualsTheDefinition(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 8, 9, 17} {
		for order := range 6 {
			p := pointtest.Make("uniform", 70, d, uint64(order))
			pts, err := points32(t.Context(), p, &Options{Kernels: simd.At(simd.Best())})
			if err != nil {
				t.Fatal(err)
			}
			o, err := (*Options)(nil).withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			fr, err := newPolyFrame(t.Context(), pts, Sigma(1), false, o)
			if err != nil {
				t.Fatal(err)
			}
			s := series{lo: -fr.radius * fr.radius, hi: fr.radius * fr.radius, a: []float64{1, .7, .4, -.3, .2, .1}[:order+1]}
			op := assemblePoly(fr, polyChoice{series: s, terms: polyTerms(d, order) + 1}, o)
			if n := nonZeros(op.nest.coefficients); n != polyTerms(d, order) {
				t.Fatalf("d = %d, order %d: %d coefficients of %d", d, order, n, polyTerms(d, order))
			}
			if most := polyBlockNumbers * float64(polyTerms(d, order)); float64(op.nest.size()) > most {
				t.Fatalf("d = %d, order %d: %d numbers, above %g", d, order, op.nest.size(), most)
			}
			for i, v := range fr.norm2 {
				op.factor[i] = math.Exp(-v / 2)
				op.self[i] = op.factor[i] * op.factor[i] * s.at(v)
			}
			if err := op.sumDegrees(t.Context()); err != nil {
				t.Fatal(err)
			}
			x, got := widen(randomBlock(pointtest.Rand(7), p.Rows, 3)), zeros64(p.Rows, 3)
			if err := op.Apply64(t.Context(), got, x); err != nil {
				t.Fatal(err)
			}
			y := make([]float64, p.Rows*d)
			fr.load64(y, 0, p.Rows)
			w := make([][]float64, p.Rows)
			for i := range w {
				w[i] = make([]float64, p.Rows)
				for j := range w[i] {
					u := 0.0
					for c := range d {
						u += y[i*d+c] * y[j*d+c]
					}
					if i != j {
						w[i][j] = op.factor[i] * op.factor[j] * s.at(u)
					}
				}
			}
			for i, v := range plainMul(w, x).Data {
				if math.Abs(v-got.Data[i]) > 1e-12*float64(p.Rows) {
					t.Fatalf("d = %d, order %d: row %d is %g, want %g", d, order, i/3, got.Data[i], v)
				}
			}
		}
	}
}

func nonZeros(v []float64) (n int) {
	for _, e := range v {
		if e != 0 {
			n++
		}
	}
	return n
}

// The coefficients in float64 are those in float32, in another order.
func TestPolyNest(t *testing.T) {
	o, err := (*Options)(nil).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []int{1, 3, 7, 8, 11, 20} {
		for order := 1; order < 6; order++ {
			pts, err := points32(t.Context(), pointtest.Make("uniform", 3, d, 1), &Options{Kernels: simd.At(simd.Best())})
			if err != nil {
				t.Fatal(err)
			}
			s := series{a: []float64{1, .7, .4, -.3, .2, .1}[:order+1]}
			op := assemblePoly(&polyFrame{p: pts, kernels: o.Kernels}, polyChoice{series: s, single: true, terms: polyTerms(d, order) + 1}, o)
			want, got := slices.Clone(op.coefficients), slices.DeleteFunc(slices.Clone(op.nest.coefficients), func(v float64) bool { return v == 0 })
			slices.Sort(want)
			slices.Sort(got)
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-15*math.Abs(b) }) {
				t.Fatalf("d = %d, order %d: other coefficients", d, order)
			}
			sum := 0
			for _, width := range op.nest.widths {
				sum += width
			}
			if sum != op.nest.size() {
				t.Fatalf("d = %d, order %d: segments of %d numbers, want %d", d, order, sum, op.nest.size())
			}
		}
	}
}

// The second of the vectors, at three tolerances.
func TestPolyVectors(t *testing.T) {
	v := vectors[1]
	for _, tolerance := range []float64{1e-3, 1e-6, 1e-12} {
		op, err := NewPoly(t.Context(), v.points, Sigma(v.sigma), &Options{Tolerance: tolerance})
		if err != nil {
			t.Fatal(err)
		}
		cert := op.Certificate()
		if cert.RowMax > tolerance {
			t.Errorf("tolerance %g, certified %g", tolerance, cert.RowMax)
		}
		for i, d := range v.degrees {
			if e := math.Abs(op.Degrees()[i] - d); e > cert.Eta(i)*d+2e-12 {
				t.Errorf("tolerance %g: degree %d is off by %g, eta %g", tolerance, i, e, cert.Eta(i))
			}
		}
		labels, err := NewLabels(v.labels, GaussianTable(Sigma(v.sigma)), false)
		if err != nil {
			t.Fatal(err)
		}
		var st Stats
		if err := st.Gather64(v.x, labels); err != nil {
			t.Fatal(err)
		}
		next := zeros64(v.x.Rows, v.x.Cols)
		if err := op.Step64(t.Context(), next, v.x, &Step{Labels: labels, Coefficient: v.alpha}, &st); err != nil {
			t.Fatal(err)
		}
		pull := zeros64(v.x.Rows, v.x.Cols)
		if err := labels.LaplacianTo64(pull, v.x); err != nil {
			t.Fatal(err)
		}
		for i, want := range v.next {
			eta := cert.Eta(i / 2)
			room := 0.5*eta*2 + v.alpha/2*eta/(1-eta)*math.Abs(pull.Data[i])/v.degrees[i/2] + 2e-12
			if e := math.Abs(next.Data[i] - want); e > room {
				t.Errorf("tolerance %g: entry %d is off by %g, room %g", tolerance, i, e, room)
			}
		}
		if e := math.Abs(st.Objective - v.v); e > 4*cert.RowMax*16+2e-12 {
			t.Errorf("tolerance %g: objective off by %g", tolerance, e)
		}
	}
}

// Rows in clusters, centred and at unit norm, as features are: the row certificate
// makes degree 1 enough, and is near the error that occurs.
func TestPolyRowCertificateIsTight(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	p := clusteredUnitRows(1200, 64, 20)
	b := Sigma(5)
	op, err := as[*poly](NewPoly(t.Context(), p, b, &Options{Workers: workers}))
	if err != nil {
		t.Fatal(err)
	}
	if op.series.order() != 1 || !op.series.taylor {
		t.Errorf("degree %d, taylor %v; the row certificate should do with degree 1", op.series.order(), op.series.taylor)
	}
	checkAgainstDense(t, op, p, b)
	w := plainWeights(p, b)
	for i := range p.Rows {
		// The error of a row, entry by entry.
		off := 0.0
		yi := make([]float64, p.Cols)
		op.frame.load64(yi, i, i+1)
		yj := make([]float64, p.Cols)
		for j := range p.Rows {
			if j != i {
				op.frame.load64(yj, j, j+1)
				off += math.Abs(w[i][j] - op.factor[i]*op.factor[j]*op.series.at(blas64.Dot(blas64.Vector{N: p.Cols, Inc: 1, Data: yi}, blas64.Vector{N: p.Cols, Inc: 1, Data: yj})))
			}
		}
		eta, actual := op.Certificate().Eta(i), off/op.Degrees()[i]
		if actual > eta || actual < 0.4*eta {
			t.Fatalf("row %d: certified %g, actual %g", i, eta, actual)
		}
		if i == 40 {
			break
		}
	}
}

func clusteredUnitRows(n, d, classes int) blas32.General {
	rng := pointtest.Rand(uint64(n + d))
	centres := zeros32(classes, d)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	p := zeros32(n, d)
	for i := range n {
		row, norm2 := p.Data[i*d:][:d], 0.0
		for c := range row {
			row[c] = centres.Data[i%classes*d+c] + float32(rng.NormFloat64())
			norm2 += float64(row[c]) * float64(row[c])
		}
		for c := range row {
			row[c] /= float32(math.Sqrt(norm2))
		}
	}
	return p
}

// Hostile unit rows, equal, opposite, near a line, with and without a null record,
// in exact and in computed weights.
func TestUnitPolyWithinItsError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 40).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "d")
		order := rapid.IntRange(0, 5).Draw(t, "order")
		b := Sigma(rapid.SampledFrom([]float64{0.7, 1, 2, 5, 6, 50}).Draw(t, "sigma"))
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed"))
		p := zeros64(n, d)
		for i := range n {
			row := p.Data[i*d:][:d]
			switch rng.IntN(4) {
			case 0:
				row[rng.IntN(d)] = 1
			case 1:
				row[0] = -1
			case 2:
				row[0] = 1
				row[rng.IntN(d)] += 1e-4 * rng.NormFloat64()
			default:
				for c := range row {
					row[c] = rng.NormFloat64()
				}
			}
		}
		null := rapid.Bool().Draw(t, "null")
		if null {
			clear(p.Data[:d])
		}
		rows, err := NewUnitRows(p, UnitOptions{Normalize: true, Nulls: 1})
		if err != nil {
			t.Fatalf("%v", err)
		}
		entry, rounding, err := UnitPolyError(b, n, d, order)
		op, opErr := NewUnitPoly(t.Context(), rows, b, order, nil)
		if (err == nil) != (opErr == nil) {
			t.Fatalf("%v, but %v", err, opErr)
		}
		if errors.Is(err, ErrTolerance) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		exact, err := NewUnitDense(t.Context(), rows, b, nil)
		if err != nil {
			t.Fatalf("%v", err)
		}
		// Columns of the identity show the weights.
		unit, got, want := zeros64(n, n), zeros64(n, n), zeros64(n, n)
		for i := range n {
			unit.Data[i*n+i] = 1
		}
		if err := errors.Join(op.Apply64(t.Context(), got, unit), exact.Apply64(t.Context(), want, unit)); err != nil {
			t.Fatalf("%v", err)
		}
		for i := range n {
			for j := range n {
				w, v := want.Data[i*n+j], got.Data[i*n+j]
				room := entry + rounding*(op.Degrees()[i]) + 1e-15
				switch {
				case i == j:
					room, w = rounding*op.Degrees()[i], 0
				case null && (i == 0 || j == 0):
					room = rounding * op.Degrees()[i]
				}
				if math.Abs(v-w) > room {
					t.Fatalf("weight of %d and %d: %g, want %g: off by %g above %g", i, j, v, w, math.Abs(v-w), room)
				}
			}
			sum := 0.0
			for j := range n {
				sum += got.Data[i*n+j]
			}
			if math.Abs(sum-op.Degrees()[i]) > 2*float64(n)*rounding*op.Degrees()[i] {
				t.Fatalf("degree %d is %g, its weights sum to %g", i, op.Degrees()[i], sum)
			}
		}
		for i := range n {
			if e := math.Abs(exact.Degrees()[i] - op.Degrees()[i]); e > op.Certificate().Eta(i)*op.Degrees()[i]+1e-15*float64(n) {
				t.Fatalf("row %d: degree off by %g, eta %g", i, e, op.Certificate().Eta(i))
			}
		}
	})
}

func TestPolyRefuses(t *testing.T) {
	p := pointtest.Make("uniform", 50, 3, 1)
	if _, err := NewPoly(t.Context(), p, Sigma(1e-3), nil); !errors.Is(err, ErrTolerance) {
		t.Errorf("a narrow bandwidth: %v", err)
	}
	if _, err := Build(t.Context(), p, Sigma(1e-3), &Options{Operator: "poly"}); !errors.Is(err, ErrOperator) {
		t.Errorf("a narrow bandwidth, forced: %v", err)
	}
	if _, err := Build(t.Context(), p, Sigma(3), &Options{Operator: "poly", CutoffRadius: 1}); !errors.Is(err, ErrOperator) {
		t.Errorf("with a cutoff: %v", err)
	}
	if _, err := NewPoly(t.Context(), p, Sigma(3), &Options{BudgetBytes: 1}); !errors.Is(err, ErrMemory) {
		t.Errorf("without memory: %v", err)
	}
	if _, err := NewPoly(t.Context(), p, Bandwidth{}, nil); !errors.Is(err, ErrBandwidth) {
		t.Errorf("without a bandwidth: %v", err)
	}
	if _, err := NewPoly(t.Context(), widen(p), Sigma(3), &Options{Tolerance: 2}); !errors.Is(err, ErrOption) {
		t.Errorf("tolerance 2: %v", err)
	}
	rows, err := NewUnitRows(p, UnitOptions{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []int{-1, 1 << 20} {
		if _, err := NewUnitPoly(t.Context(), rows, Sigma(5), order, nil); !errors.Is(err, ErrTolerance) {
			t.Errorf("order %d: %v", order, err)
		}
	}
	if _, err := NewUnitPoly(t.Context(), rows, Sigma(.3), 1, nil); !errors.Is(err, ErrTolerance) {
		t.Errorf("order 1 at sigma 0.3: %v", err)
	}
	if _, err := NewUnitPoly(t.Context(), rows, Sigma(5), 1, &Options{BudgetBytes: 1}); !errors.Is(err, ErrMemory) {
		t.Errorf("unit rows without memory: %v", err)
	}
	if _, _, err := UnitPolyError(Sigma(5), 1, 3, 1); !errors.Is(err, ErrShape) {
		t.Errorf("one row: %v", err)
	}
}

// What Build chooses for wide bandwidths, and what a degenerate set gets.
func TestPolyIsChosen(t *testing.T) {
	op, err := Build(t.Context(), clusteredUnitRows(5000, 16, 10), Sigma(6), &Options{Calibration: &Calibration{}})
	if err != nil {
		t.Fatal(err)
	}
	if op.Name() != "poly" {
		t.Errorf("%s for unit rows at sigma 6", op.Name())
	}
	equal := zeros32(9000, 5)
	for i := range equal.Data {
		equal.Data[i] = float32(i%5) + 0.1
	}
	poly, err := as[*poly](NewPoly(t.Context(), equal, Sigma(1e-3), nil))
	if err != nil {
		t.Fatal(err)
	}
	if cert := poly.Certificate(); poly.series.order() != 0 || cert.RowMax != 0 || cert.Kind != Exact {
		t.Errorf("equal points: degree %d, %v", poly.series.order(), cert)
	}
	for _, d := range poly.Degrees() {
		if d != 8999 {
			t.Fatalf("equal points: degree %v", d)
		}
	}
	one, err := NewPoly(t.Context(), zeros32(1, 3), Sigma(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cert := one.Certificate(); cert.Isolated != 1 || !math.IsInf(cert.RowMax, 1) || one.Degrees()[0] != 0 {
		t.Errorf("a single point: %v", cert)
	}
}

// lowRank returns unit rows whose spread is mostly along a few directions.
func lowRank(n, d, rank int) blas32.General {
	rng := pointtest.Rand(uint64(n + d + rank))
	p := zeros32(n, d)
	directions := randomBlock(rng, rank, d)
	for i := range n {
		row, norm2 := p.Data[i*d:][:d], 0.0
		for a := range rank {
			along := float32(rng.NormFloat64() / math.Sqrt(float64(a+1)))
			for c := range row {
				row[c] += along * directions.Data[a*d+c]
			}
		}
		for c := range row {
			row[c] += float32(0.01 * rng.NormFloat64())
			norm2 += float64(row[c]) * float64(row[c])
		}
		for c := range row {
			row[c] /= float32(math.Sqrt(norm2))
		}
	}
	return p
}

// Many dimensions with few that matter: degrees 2 and more along axes.
func TestPolyAlongAxes(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for _, c := range []struct {
		n, d, rank       int
		sigma, tolerance float64
	}{{600, 200, 6, 1.5, 1e-3}, {400, 130, 3, 1, 3e-3}, {500, 300, 10, 1.2, 3e-3}} {
		p := lowRank(c.n, c.d, c.rank)
		op, err := as[*poly](NewPoly(t.Context(), p, Sigma(c.sigma), &Options{Tolerance: c.tolerance, Workers: workers}))
		if err != nil {
			t.Fatal(err)
		}
		if op.low == nil || op.series.order() < 2 {
			t.Errorf("n = %d, d = %d: degree %d, projected %v", c.n, c.d, op.series.order(), op.low != nil)
		}
		if worst := op.Certificate().RowMax; worst > c.tolerance {
			t.Errorf("n = %d, d = %d: eta %g", c.n, c.d, worst)
		}
		checkAgainstDense(t, op, p, Sigma(c.sigma))
		// Both precisions, and the diagonal: W 1 is the degrees.
		ones, out := zeros64(c.n, 1), zeros64(c.n, 1)
		for i := range ones.Data {
			ones.Data[i] = 1
		}
		if err := op.Apply64(t.Context(), out, ones); err != nil {
			t.Fatal(err)
		}
		for i, v := range out.Data {
			if v != op.Degrees()[i] {
				t.Fatalf("row %d: %g, degree %g", i, v, op.Degrees()[i])
			}
		}
	}
}

// A number of terms that is beyond an int of 32 bits must not come out small: on such
// machines poly was chosen for it, and failed to make room.
func TestTooManyTerms(t *testing.T) {
	for _, d := range []int{1, 8, 1000, 100_000, 1 << 30} {
		for order := range maxPolyOrder + 1 {
			if few, more := polyTerms(d, order), int32(polyTerms(d, order+1)); few < order || int(more) < few || more+1 < 0 {
				t.Fatalf("%d dimensions: %d terms of order %d, then %d", d, few, order, more)
			}
		}
	}
	if order := MaxUnitPolyOrder(100_000); order != 1 {
		t.Errorf("order %d in 100,000 dimensions", order)
	}
	if _, err := NewPoly(t.Context(), pointtest.Make("uniform", 40, 1000, 1), Sigma(4.5), &Options{Tolerance: 1e-7}); !errors.Is(err, ErrTolerance) {
		t.Errorf("err = %v", err)
	}
}
