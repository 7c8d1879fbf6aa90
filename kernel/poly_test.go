package kernel

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/par"
)

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
		op, err := openPoly(t.Context(), p, b, opt)
		if errors.Is(err, ErrTolerance) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		built++
		if worst := op.Certificate().own().WorstConnected(); worst > opt.Tolerance {
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
		op, err := openPoly(t.Context(), p, b, nil)
		if errors.Is(err, ErrTolerance) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		x := pointtest.RandomBlock(pointtest.Rand(5), p.Rows, 3)
		wide := pointtest.Zeros64(p.Rows, 3)
		if err := op.Apply64(t.Context(), wide, pointtest.Widen(x)); err != nil {
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

// The second of the vectors, at three tolerances.
func TestPolyVectors(t *testing.T) {
	v := vectors[1]
	for _, tolerance := range []float64{1e-3, 1e-6, 1e-12} {
		op, err := openPoly(t.Context(), v.points, Sigma(v.sigma), &Options{Tolerance: tolerance})
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
		next := pointtest.Zeros64(v.x.Rows, v.x.Cols)
		if err := op.Step64(t.Context(), next, v.x, &Step{Labels: labels, Coefficient: v.alpha}, &st); err != nil {
			t.Fatal(err)
		}
		pull := pointtest.Zeros64(v.x.Rows, v.x.Cols)
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
	p := pointtest.ClusteredUnitRows(1200, 64, 20)
	b := Sigma(5)
	op, err := as[*poly.Poly](openPoly(t.Context(), p, b, &Options{Workers: workers}))
	if err != nil {
		t.Fatal(err)
	}
	if op.Series.Order() != 1 || !op.Series.Taylor {
		t.Errorf("degree %d, taylor %v; the row certificate should do with degree 1", op.Series.Order(), op.Series.Taylor)
	}
	checkAgainstDense(t, public(op), p, b)
	w := pointtest.PlainWeights(p, b.Gamma())
	for i := range p.Rows {
		// The error of a row, entry by entry.
		off := 0.0
		yi := make([]float64, p.Cols)
		op.Frame.Load64(yi, i, i+1)
		yj := make([]float64, p.Cols)
		for j := range p.Rows {
			if j != i {
				op.Frame.Load64(yj, j, j+1)
				off += math.Abs(w[i][j] - op.Factor[i]*op.Factor[j]*op.Series.At(blas64.Dot(blas64.Vector{N: p.Cols, Inc: 1, Data: yi}, blas64.Vector{N: p.Cols, Inc: 1, Data: yj})))
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

// Hostile unit rows, equal, opposite, near a line, with and without a null record,
// in exact and in computed weights.
func TestUnitPolyWithinItsError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 40).Draw(t, "n"), rapid.IntRange(1, 9).Draw(t, "d")
		order := rapid.IntRange(0, 5).Draw(t, "order")
		b := Sigma(rapid.SampledFrom([]float64{0.7, 1, 2, 5, 6, 50}).Draw(t, "sigma"))
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed"))
		p := pointtest.Zeros64(n, d)
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
		entry, rounding, err := b.UnitPolyError(n, d, order)
		op, opErr := rows.Poly(t.Context(), b, order, nil)
		if (err == nil) != (opErr == nil) {
			t.Fatalf("%v, but %v", err, opErr)
		}
		if errors.Is(err, ErrTolerance) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		exact, err := rows.Dense(t.Context(), b, nil)
		if err != nil {
			t.Fatalf("%v", err)
		}
		// Columns of the identity show the weights.
		unit, got, want := pointtest.Zeros64(n, n), pointtest.Zeros64(n, n), pointtest.Zeros64(n, n)
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
	if _, err := openPoly(t.Context(), p, Sigma(1e-3), nil); !errors.Is(err, ErrTolerance) {
		t.Errorf("a narrow bandwidth: %v", err)
	}
	if _, err := Build(t.Context(), p, Sigma(1e-3), &Options{Operator: "poly"}); !errors.Is(err, ErrOperator) {
		t.Errorf("a narrow bandwidth, forced: %v", err)
	}
	if _, err := Build(t.Context(), p, Sigma(3), &Options{Operator: "poly", CutoffRadius: 1}); !errors.Is(err, ErrOperator) {
		t.Errorf("with a cutoff: %v", err)
	}
	if _, err := openPoly(t.Context(), p, Sigma(3), &Options{MaxMemory: 1}); !errors.Is(err, ErrMemory) {
		t.Errorf("without memory: %v", err)
	}
	if _, err := openPoly(t.Context(), p, Bandwidth{}, nil); !errors.Is(err, ErrBandwidth) {
		t.Errorf("without a bandwidth: %v", err)
	}
	if _, err := openPoly(t.Context(), pointtest.Widen(p), Sigma(3), &Options{Tolerance: 2}); !errors.Is(err, ErrOption) {
		t.Errorf("tolerance 2: %v", err)
	}
	rows, err := NewUnitRows(p, UnitOptions{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []int{-1, 1 << 20} {
		if _, err := rows.Poly(t.Context(), Sigma(5), order, nil); !errors.Is(err, ErrTolerance) {
			t.Errorf("order %d: %v", order, err)
		}
	}
	if _, err := rows.Poly(t.Context(), Sigma(.3), 1, nil); !errors.Is(err, ErrTolerance) {
		t.Errorf("order 1 at sigma 0.3: %v", err)
	}
	if _, err := rows.Poly(t.Context(), Sigma(5), 1, &Options{MaxMemory: 1}); !errors.Is(err, ErrMemory) {
		t.Errorf("unit rows without memory: %v", err)
	}
	if _, _, err := Sigma(5).UnitPolyError(1, 3, 1); !errors.Is(err, ErrShape) {
		t.Errorf("one row: %v", err)
	}
}

// What Build chooses for wide bandwidths, and what a degenerate set gets.
func TestPolyIsChosen(t *testing.T) {
	op, err := Build(t.Context(), pointtest.ClusteredUnitRows(5000, 16, 10), Sigma(6), &Options{Calibration: &Calibration{}})
	if err != nil {
		t.Fatal(err)
	}
	if op.Name() != "poly" {
		t.Errorf("%s for unit rows at sigma 6", op.Name())
	}
	equal := pointtest.Zeros32(9000, 5)
	for i := range equal.Data {
		equal.Data[i] = float32(i%5) + 0.1
	}
	poly, err := as[*poly.Poly](openPoly(t.Context(), equal, Sigma(1e-3), nil))
	if err != nil {
		t.Fatal(err)
	}
	if cert := poly.Certificate(); poly.Series.Order() != 0 || cert.RowMax != 0 || cert.Kind != base.Exact {
		t.Errorf("equal points: degree %d, %v", poly.Series.Order(), cert)
	}
	for _, d := range poly.Degrees() {
		if d != 8999 {
			t.Fatalf("equal points: degree %v", d)
		}
	}
	one, err := openPoly(t.Context(), pointtest.Zeros32(1, 3), Sigma(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cert := one.Certificate(); cert.Isolated != 1 || !math.IsInf(cert.RowMax, 1) || one.Degrees()[0] != 0 {
		t.Errorf("a single point: %v", cert)
	}
}

// Many dimensions with few that matter: degrees 2 and more along axes.
func TestPolyAlongAxes(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for _, c := range []struct {
		n, d, rank       int
		sigma, tolerance float64
	}{{600, 200, 6, 1.5, 1e-3}, {400, 130, 3, 1, 3e-3}, {500, 300, 10, 1.2, 3e-3}} {
		p := pointtest.LowRank(c.n, c.d, c.rank)
		op, err := as[*poly.Poly](openPoly(t.Context(), p, Sigma(c.sigma), &Options{Tolerance: c.tolerance, Workers: workers}))
		if err != nil {
			t.Fatal(err)
		}
		if op.Low == nil || op.Series.Order() < 2 {
			t.Errorf("n = %d, d = %d: degree %d, projected %v", c.n, c.d, op.Series.Order(), op.Low != nil)
		}
		if worst := op.Certificate().RowMax; worst > c.tolerance {
			t.Errorf("n = %d, d = %d: eta %g", c.n, c.d, worst)
		}
		checkAgainstDense(t, public(op), p, Sigma(c.sigma))
		// Both precisions, and the diagonal: W 1 is the degrees.
		ones, out := pointtest.Zeros64(c.n, 1), pointtest.Zeros64(c.n, 1)
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

// Orders and terms in many dimensions.
func TestPolyOfManyTermsIsRefused(t *testing.T) {
	if order := MaxUnitPolyOrder(100_000); order != 1 {
		t.Errorf("order %d in 100,000 dimensions", order)
	}
	if _, err := openPoly(t.Context(), pointtest.Make("uniform", 40, 1000, 1), Sigma(4.5), &Options{Tolerance: 1e-7}); !errors.Is(err, ErrTolerance) {
		t.Errorf("err = %v", err)
	}
}
