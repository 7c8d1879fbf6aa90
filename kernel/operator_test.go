package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

var operatorDims = []int{1, 2, 3, 4, 7, 8, 9, 20}

func TestDenseEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pointtest.Draw(t, 60, operatorDims)
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of x"))
		b := Sigma(pointtest.TypicalDistance(p, rng) * math.Exp2(rapid.Float64Range(-4, 8).Draw(t, "octaves")))
		op, err := NewDense(t.Context(), p, b, nil)
		if err != nil {
			t.Fatalf("%v", err)
		}
		x := pointtest.Widen(pointtest.RandomBlock(rng, p.Rows, 3))
		got := pointtest.Zeros64(p.Rows, 3)
		if err := op.Apply64(t.Context(), got, x); err != nil {
			t.Fatalf("%v", err)
		}
		w := pointtest.PlainWeights(p, b.Gamma())
		want := pointtest.PlainMul(w, x)
		cert := op.Certificate()
		for i := range p.Rows {
			room := 0.0
			for j, v := range w[i] {
				for c := range 3 {
					room = max(room, v*math.Abs(x.Data[j*3+c]))
				}
			}
			room = (cert.EntryRel+cert.Rounding+1e-15)*room*float64(p.Rows) + 1e-277 // what counts as zero
			for c := range 3 {
				if e := math.Abs(got.Data[i*3+c] - want.Data[i*3+c]); e > room {
					t.Fatalf("row %d: error %g above %g (%v)", i, e, room, cert)
				}
			}
		}
	})
}

// A wide offset in many dimensions is where |a|^2 + |b|^2 - 2 a.b fails.
func TestDenseSurvivesCancellation(t *testing.T) {
	rng := pointtest.Rand(1)
	p := blas32.General{Rows: 50, Cols: 12, Stride: 12, Data: pointtest.Fill(600, func(i int) float64 {
		if i < 12 {
			return 1e7 // one row far away moves the centre
		}
		return 1e-3 * rng.NormFloat64()
	})}
	b := Sigma(1e-3)
	op, err := NewDense(t.Context(), p, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range pointtest.PlainWeights(p, b.Gamma()) {
		want := 0.0
		for _, v := range row {
			want += v
		}
		if got := op.Degrees()[i]; math.Abs(got-want) > 1e-12*want {
			t.Errorf("degree %d = %.15g, want %.15g", i, got, want)
		}
	}
}

// The certificate of every row is searched for violations: degrees, step and
// objective against the exact operator.
func TestCSRWithinItsCertificate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pointtest.Draw(t, 120, operatorDims)
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of x"))
		scale := pointtest.TypicalDistance(p, rng)
		b := Sigma(scale * math.Exp2(rapid.Float64Range(-6, 1).Draw(t, "octaves")))
		opt := &Options{Isolated: rapid.SampledFrom([]IsolatedPolicy{Keep, Repair}).Draw(t, "policy")}
		if rapid.Bool().Draw(t, "fixed radius") {
			opt.CutoffRadius = b.Sigma() * rapid.Float64Range(0.5, 6).Draw(t, "radius")
			opt.Tolerance = 1e-3
		} else {
			opt.Tolerance = math.Pow(10, rapid.Float64Range(-6, -0.5).Draw(t, "tolerance"))
		}
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, opt))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if opt.Isolated == Repair {
			if worst := op.WorstRepairable(opt.Tolerance); worst > opt.Tolerance && opt.CutoffRadius == 0 {
				t.Fatalf("repaired, yet eta = %g above %g", worst, opt.Tolerance)
			}
			if !op.Weights.IsSymmetric() {
				t.Fatalf("repair broke the symmetry")
			}
		}
		checkAgainstDense(t, public(op), p, b)
	})
}

// checkAgainstDense compares a step of op with the exact one on the same rows.
func checkAgainstDense(t pointtest.Tester, op Operator, p blas32.General, b Bandwidth) {
	t.Helper()
	ctx := t.Context()
	exact, err := NewDense(ctx, pointtest.PermuteRows(p, op.Order()), b, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	n, k, alpha := p.Rows, 2, 0.6
	rng := pointtest.Rand(uint64(n))
	x := pointtest.RandomBlock(rng, n, k)
	labels, err := NewLabels(pointtest.RandomLabels(rng, n, 3, true), EqualTable(), true)
	if err != nil {
		t.Fatalf("%v", err)
	}
	step := &Step{Form: Paper, Labels: labels, Coefficient: alpha}
	var st, st64 Stats
	if err := st.Gather(x, labels); err != nil {
		t.Fatalf("%v", err)
	}
	if err := st64.Gather64(pointtest.Widen(x), labels); err != nil {
		t.Fatalf("%v", err)
	}
	got, want := pointtest.Zeros32(n, k), pointtest.Zeros64(n, k)
	if err := op.Step(ctx, got, x, step, &st); err != nil {
		t.Fatalf("%v", err)
	}
	if err := exact.Step64(ctx, want, pointtest.Widen(x), step, &st64); err != nil {
		t.Fatalf("%v", err)
	}
	pull := pointtest.Zeros64(n, k)
	if err := labels.LaplacianTo64(pull, pointtest.Widen(x)); err != nil {
		t.Fatalf("%v", err)
	}
	cert := op.Certificate()
	low, high := columnRange(x)
	objectiveRoom := 0.0
	largest := make([]float64, k)
	for c := range largest {
		largest[c] = max(-low[c], high[c])
	}
	for i := range n {
		degree, eta := op.Degrees()[i], cert.Eta(i)
		if degree == 0 {
			if !math.IsInf(eta, 1) {
				t.Fatalf("row %d is isolated, its eta is %g", i, eta)
			}
			for c := range k {
				if got.Data[i*k+c] != x.Data[i*k+c] {
					t.Fatalf("isolated row %d moved", i)
				}
			}
		}
		if d := exact.Degrees()[i]; math.Abs(d-degree) > eta*degree*(1+1e-9) {
			t.Fatalf("row %d: degree %g, exactly %g, eta %g", i, degree, d, eta)
		}
		spread := 0.0
		for c := range k {
			spread += (high[c] - low[c]) * (high[c] - low[c])
		}
		objectiveRoom += 0.5 * eta * degree * spread
		for c := range k {
			objectiveRoom += cert.Rounding * (high[c] - low[c]) * degree * largest[c]
		}
		if eta >= 1 {
			continue // nothing is claimed for the step
		}
		for c := range k {
			if math.Abs(want.Data[i*k+c]) > 1e37 {
				continue // beyond float32
			}
			room := 0.5*eta*(high[c]-low[c]) + alpha/2*eta/(1-eta)*math.Abs(pull.Data[i*k+c])/degree
			room += 0x1p-23*math.Abs(want.Data[i*k+c]) + 0x1p-24 // float32
			room += 0.5 * cert.Rounding * largest[c]             // of W x
			if e := math.Abs(float64(got.Data[i*k+c]) - want.Data[i*k+c]); e > room {
				t.Fatalf("row %d: step error %g above %g (eta %g)", i, e, room, eta)
			}
		}
	}
	if cert.Isolated == 0 {
		if e := math.Abs(st.Objective - st64.Objective); e > objectiveRoom*(1+1e-6)+1e-9*(1+math.Abs(st64.Objective)) {
			t.Fatalf("objective error %g above %g", e, objectiveRoom)
		}
	}
}

func columnRange(x blas32.General) (low, high []float64) {
	low, high = make([]float64, x.Cols), make([]float64, x.Cols)
	for c := range x.Cols {
		low[c], high[c] = math.Inf(1), math.Inf(-1)
		for i := range x.Rows {
			v := float64(x.Data[i*x.Stride+c])
			low[c], high[c] = min(low[c], v), max(high[c], v)
		}
	}
	return low, high
}

// Both operators at sizes with several blocks, cells and chunks.
func TestLargerSetsWithinTheCertificate(t *testing.T) {
	t.Parallel()
	workers := par.New(2)
	defer workers.Close()
	for _, c := range []struct {
		kind   string
		n, d   int
		sigma  float64
		policy IsolatedPolicy
	}{
		{"uniform", 3000, 2, 0.02, Keep},
		{"uniform", 3000, 3, 0.03, Keep},
		{"uniform", 2000, 5, 0.1, Repair},
		{"clustered", 3000, 2, 0.01, Keep},
		{"clustered", 1500, 3, 2, Repair},
		{"lattice", 2500, 4, 0.3, Keep},
		{"uniform", 900, 12, 0.2, Repair},
		{"uniform", 900, 12, 0.15, Keep},
		{"collinear", 2000, 8, 0.01, Keep},
	} {
		t.Run(fmt.Sprintf("kind=%s/n=%d/d=%d", c.kind, c.n, c.d), func(t *testing.T) {
			p := pointtest.Make(c.kind, c.n, c.d, 11)
			op, err := openCSR(t.Context(), p, Sigma(c.sigma), &Options{Workers: workers, Isolated: c.policy})
			if err != nil {
				t.Fatal(err)
			}
			checkAgainstDense(t, op, p, Sigma(c.sigma))
			missed := 0
			for _, eta := range op.Certificate().Row {
				if eta > 1e-4 {
					missed++
				}
			}
			if c.kind == "uniform" && missed*100 > 4*c.n {
				t.Errorf("%d of %d rows miss the tolerance, %v", missed, c.n, op.Certificate())
			}
		})
	}
}

// Two clumps at a distance of some radii: what is dropped is known nearly
// exactly, so a bound that forgets some of it shows.
func TestDroppedMassOfAFarClump(t *testing.T) {
	for _, d := range []int{1, 2, 3, 9} {
		for _, policy := range []IsolatedPolicy{Keep, Repair} {
			for _, radii := range []float64{1.01, 1.3, 1.6, 1.99, 2.01, 2.2, 2.6, 3.1, 4.2} {
				rng := pointtest.Rand(uint64(100 * radii))
				p := pointtest.Zeros32(140, d)
				for i := range p.Rows {
					for a := range d {
						p.Data[i*d+a] = float32(0.01 * rng.Float64())
					}
					if i >= 40 {
						p.Data[i*d] += float32(radii)
					}
					if i%3 == 0 && i > 0 { // and some points are equal
						copy(p.Data[i*d:][:d], p.Data[(i-1)*d:])
					}
				}
				op, err := openCSR(t.Context(), p, Sigma(1), &Options{CutoffRadius: 1, Isolated: policy})
				if err != nil {
					t.Fatal(err)
				}
				checkAgainstDense(t, op, p, Sigma(1))
			}
		}
	}
}

// operatorsOf returns every operator on the same points.
func operatorsOf(t pointtest.Tester, p blas32.General, b Bandwidth, workers *par.Workers) []Operator {
	t.Helper()
	opt := &Options{Workers: workers}
	dense, err := NewDense(t.Context(), p, b, opt)
	if err != nil {
		t.Fatalf("%v", err)
	}
	csr, err := openCSR(t.Context(), p, b, opt)
	if err != nil {
		t.Fatalf("%v", err)
	}
	all := []Operator{dense, csr}
	if p.Cols <= base.MaxDirect {
		pairs, err := openPairs(t.Context(), p, b, opt)
		if err != nil {
			t.Fatalf("%v", err)
		}
		all = append(all, pairs)
	}
	// The bandwidth may be too narrow for a polynomial, or for a short one.
	pts, o, err := open(t.Context(), p, b, opt)
	if err != nil {
		t.Fatalf("%v", err)
	}
	const mostTerms = 2000
	if c := poly.Candidate(t.Context(), pts.rows, b.own, nil, o); c.Feasible && c.Cost.Flops <= mostTerms*4*float64(p.Rows)*float64(o.Columns) {
		poly, err := c.Build(t.Context(), o)
		switch {
		case err == nil:
			all = append(all, public(poly))
		case !errors.Is(err, ErrTolerance): // where the sample was too hopeful
			t.Fatalf("%v", err)
		}
	}
	if p.Cols <= 3 {
		switch grid, err := openGrid(t.Context(), p, b, opt); {
		case err == nil:
			all = append(all, grid)
		case !errors.Is(err, ErrOperator): // more cells than can be numbered
			t.Fatalf("%v", err)
		}
	}
	return all
}

func apply(t pointtest.Tester, op Operator, x blas32.General) blas32.General {
	t.Helper()
	out := pointtest.Zeros32(x.Rows, x.Cols)
	if err := op.Apply(t.Context(), out, x); err != nil {
		t.Fatalf("%v", err)
	}
	return out
}

func inner(x, y blas32.General) (sum, size float64) {
	for i := range x.Data {
		v := float64(x.Data[i]) * float64(y.Data[i])
		sum += v
		size += math.Abs(v)
	}
	return sum, size
}

// largest returns the size of the largest number.
func largest(x blas32.General) (most float64) {
	for _, v := range x.Data {
		most = max(most, math.Abs(float64(v)))
	}
	return most
}

func TestLaplacianProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := pointtest.Draw(t, 80, operatorDims)
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of x"))
		b := Sigma(pointtest.TypicalDistance(p, rng) * math.Exp2(rapid.Float64Range(-4, 4).Draw(t, "octaves")))
		for _, op := range operatorsOf(t, p, b, nil) {
			n := p.Rows
			// L 1 = 0: the degrees are the product with ones, for any number of
			// columns, but for its rounding.
			k := rapid.IntRange(1, 11).Draw(t, "k")
			ones := pointtest.Zeros32(n, k)
			for i := range ones.Data {
				ones.Data[i] = 1
			}
			for i, v := range apply(t, op, ones).Data {
				degree := op.Degrees()[i/k]
				room := op.Certificate().Rounding*degree + 0x1p-149*float64(n)
				if op.Name() != "csr" && op.Name() != "pairs" {
					room += 0x1p-24 * degree // the final rounding
				}
				if math.Abs(float64(v)-degree) > room {
					t.Fatalf("%s: (W 1)[%d] = %v, degree %v", op.Name(), i/k, v, degree)
				}
			}
			x, y := pointtest.RandomBlock(rng, n, 1), pointtest.RandomBlock(rng, n, 1)
			wx, wy := apply(t, op, x), apply(t, op, y)
			a, sizeA := inner(x, wy)
			c, sizeC := inner(y, wx)
			// Products are rounded, which the certificate bounds. The weights of grid are as
			// symmetric, and as positive, as they are exact: a product with two numbers of x
			// and y, or half a squared difference, is below 50.
			inexact := 0.0
			for i, d := range op.Degrees() {
				inexact += op.Certificate().Rounding * d * (math.Abs(float64(x.Data[i])) + math.Abs(float64(y.Data[i]))) * (largest(x) + largest(y))
			}
			if op.Name() == "grid" {
				for i, d := range op.Degrees() {
					if d > 0 {
						inexact += op.Certificate().Eta(i) * d * 50
					}
				}
			}
			if math.Abs(a-c) > 1e-6*(sizeA+sizeC)+inexact+1e-37 { // the least normal float32
				t.Fatalf("%s: x.Wy = %g, y.Wx = %g", op.Name(), a, c)
			}
			form, size := 0.0, 0.0
			for i, d := range op.Degrees() {
				form += d * float64(x.Data[i]) * float64(x.Data[i])
				size += d * float64(x.Data[i]) * float64(x.Data[i])
			}
			s, sizeX := inner(x, wx)
			if form-s < -(1e-6*(size+sizeX) + inexact + 1e-37) {
				t.Fatalf("%s: x.Lx = %g < 0", op.Name(), form-s)
			}
		}
	})
}

// stepGiven takes one step with rows in the order of the points.
func stepGiven(t pointtest.Tester, op Operator, x blas32.General, y []int32, form Form, coefficient float64) blas32.General {
	t.Helper()
	table := EqualTable()
	if form == Attract {
		table = BalancedTable()
	}
	labels, err := NewLabels(y, table, true)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if labels, err = labels.Permute(op.Order()); err != nil {
		t.Fatalf("%v", err)
	}
	in, out := pointtest.PermuteRows(x, op.Order()), pointtest.Zeros32(x.Rows, x.Cols)
	var st Stats
	if err := st.Gather(in, labels); err != nil {
		t.Fatalf("%v", err)
	}
	if err := op.Step(t.Context(), out, in, &Step{Form: form, Labels: labels, Coefficient: coefficient}, &st); err != nil {
		t.Fatalf("%v", err)
	}
	if op.Order() == nil {
		return out
	}
	given := pointtest.Zeros32(x.Rows, x.Cols)
	for i, to := range op.Order() {
		copy(given.Data[int(to)*x.Cols:][:x.Cols], out.Data[i*x.Cols:])
	}
	return given
}

func TestEquivariance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := pointtest.Draw(t, 60, []int{2, 3, 9})
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of x"))
		scale := pointtest.TypicalDistance(p, rng)
		b := Sigma(scale)
		n, k := p.Rows, 2
		x, y := pointtest.RandomBlock(rng, n, k), pointtest.RandomLabels(rng, n, 3, true)
		form := rapid.SampledFrom([]Form{Paper, Attract}).Draw(t, "form")
		// Permuted points, x and labels.
		order := rng.Perm(n)
		order32 := make([]uint32, n)
		yp := make([]int32, n)
		for i, from := range order {
			order32[i], yp[i] = uint32(from), y[from]
		}
		pp, xp := pointtest.PermuteRows(p, order32), pointtest.PermuteRows(x, order32)
		// Shifted x, by a number that float32 adds exactly enough.
		shifted := pointtest.Zeros32(n, k)
		for i, v := range x.Data {
			shifted.Data[i] = v + 8
		}
		// Rotated points: the first two axes by 90 degrees, without rounding.
		rotated := pointtest.Zeros32(n, p.Cols)
		for i := range n {
			copy(rotated.Data[i*p.Cols:][:p.Cols], p.Data[i*p.Stride:])
			rotated.Data[i*p.Cols], rotated.Data[i*p.Cols+1] = -p.Data[i*p.Stride+1], p.Data[i*p.Stride]
		}
		// Points and sigma scaled together by a power of two.
		scaled := pointtest.Zeros32(n, p.Cols)
		for i := range scaled.Data {
			scaled.Data[i] = p.Data[i] / 4
		}
		// A radius of the caller's: one that follows from a sample of the rows
		// differs within the tolerance when the rows are permuted.
		operators := func(p blas32.General, b Bandwidth) []Operator {
			csr, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: 3 * b.Sigma()})
			if err != nil {
				t.Fatalf("%v", err)
			}
			return append(operatorsOf(t, p, b, nil)[:1], csr)
		}
		base, perm := operators(p, b), operators(pp, b)
		turn, half := operators(rotated, b), operators(scaled, Sigma(scale/4))
		for o, op := range base {
			want := stepGiven(t, op, x, y, form, 0.5)
			for _, c := range []struct {
				name string
				got  func(i, col int) float64
			}{
				{"permuted", func() func(i, col int) float64 {
					out := stepGiven(t, perm[o], xp, yp, form, 0.5)
					back := make([]int, n)
					for i, from := range order {
						back[from] = i
					}
					return func(i, col int) float64 { return float64(out.Data[back[i]*k+col]) }
				}()},
				{"shifted", func() func(i, col int) float64 {
					out := stepGiven(t, op, shifted, y, form, 0.5)
					return func(i, col int) float64 { return float64(out.Data[i*k+col]) - 8 }
				}()},
				{"rotated", func() func(i, col int) float64 {
					out := stepGiven(t, turn[o], x, y, form, 0.5)
					return func(i, col int) float64 { return float64(out.Data[i*k+col]) }
				}()},
				{"scaled", func() func(i, col int) float64 {
					out := stepGiven(t, half[o], x, y, form, 0.5)
					return func(i, col int) float64 { return float64(out.Data[i*k+col]) }
				}()},
			} {
				for i := range n {
					degree := op.Degrees()[slices.Index(orderOf(op), uint32(i))]
					for col := range k {
						w := float64(want.Data[i*k+col])
						// float32 of x, shifted by 8, and of the sums behind l_i/d_i:
						// a row of tiny degree has room for anything.
						room := 1e-5 * (1 + math.Abs(w) + float64(n)/degree)
						if e := math.Abs(c.got(i, col) - w); e > room && degree > 0 {
							t.Fatalf("%s, %s: row %d column %d differs by %g", op.Name(), c.name, i, col, e)
						}
					}
				}
			}
		}
	})
}

func orderOf(op Operator) []uint32 {
	if op.Order() != nil {
		return op.Order()
	}
	order := make([]uint32, op.N())
	for i := range order {
		order[i] = uint32(i)
	}
	return order
}

// Equal points behave as one with a multiplicity: the degrees, and the product
// against the plain sum.
func TestDuplicatesAreCollapsed(t *testing.T) {
	for _, d := range []int{1, 2, 5, 10} {
		few := pointtest.Make("uniform", 20, d, 3)
		rng := pointtest.Rand(4)
		p := pointtest.Zeros32(400, d)
		for i := range 400 {
			copy(p.Data[i*d:][:d], few.Data[rng.IntN(20)*d:])
		}
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(0.3), nil))
		if err != nil {
			t.Fatal(err)
		}
		if op.Weights.Rows() != 20 || op.Group == nil {
			t.Errorf("d=%d: %d distinct points, want 20", d, op.Weights.Rows())
		}
		checkAgainstDense(t, public(op), p, Sigma(0.3))
		for _, policy := range []IsolatedPolicy{Keep, Repair} { // cut, so that something is dropped
			op, err := openCSR(t.Context(), p, Sigma(0.3), &Options{CutoffRadius: 0.3 * math.Sqrt(float64(d)), Isolated: policy})
			if err != nil {
				t.Fatal(err)
			}
			checkAgainstDense(t, op, p, Sigma(0.3))
		}
	}
}

// A few equal points among many: most tiles have none, some begin or end among
// them, and one group is larger than a tile.
func TestFewEqualPointsAmongMany(t *testing.T) {
	rng := pointtest.Rand(12)
	p := pointtest.Make("uniform", 6*step.PassTile, 2, 11)
	for i := range step.PassTile + 100 {
		copy(p.Data[2*i:][:2], p.Data[:2])
	}
	for range 40 {
		copy(p.Data[2*rng.IntN(p.Rows):][:2], p.Data[2*rng.IntN(p.Rows):][:2])
	}
	op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.02}))
	if err != nil {
		t.Fatal(err)
	}
	if alone := op.Weights.Rows(); alone == op.N() || alone < 4*step.PassTile {
		t.Fatalf("%d distinct points of %d", alone, op.N())
	}
	point := make([]int, op.N()) // of each row
	for g := range op.Weights.Rows() {
		for i := op.First(g); i < op.First(g+1); i++ {
			point[i] = g
		}
	}
	for _, k := range []int{1, 2, 5, 40} {
		for _, gap := range []int{0, 3} {
			x, wx, next := gapped(op.N(), k, gap), gapped(op.N(), k, gap), gapped(op.N(), k, gap)
			for i := range x.Data {
				x.Data[i] = float32(rng.NormFloat64())
			}
			if err := op.Apply(t.Context(), wx, x); err != nil {
				t.Fatal(err)
			}
			st := new(Stats)
			if err := st.Gather(x, nil); err != nil {
				t.Fatal(err)
			}
			if err := public(op).Step(t.Context(), next, x, new(Step), st); err != nil {
				t.Fatal(err)
			}
			sums := make([]float64, op.Weights.Rows()*k)
			for i, g := range point {
				for c := range k {
					sums[g*k+c] += float64(x.Data[i*x.Stride+c])
				}
			}
			var buffer sparse.RowBuffer
			for i, g := range point {
				ind, val := op.Weights.Row(g, &buffer)
				for c := range k {
					v := float64(x.Data[i*x.Stride+c])
					want, size := sums[g*k+c]-v, math.Abs(sums[g*k+c])+math.Abs(v)
					for e, j := range ind {
						want += float64(val[e]) * sums[int(j)*k+c]
						size += math.Abs(float64(val[e]) * sums[int(j)*k+c])
					}
					got := float64(wx.Data[i*x.Stride+c])
					if math.Abs(got-want) > 1e-6*size {
						t.Fatalf("k=%d, row %d, point %d: (W x)[%d] = %v, want %v", k, i, g, c, got, want)
					}
					moved := v
					if d := op.RowSums[i]; d > 0 {
						moved = v - 0.5*(v-got/d)
					}
					if got := float64(next.Data[i*x.Stride+c]); math.Abs(got-moved) > 1e-6*(math.Abs(v)+math.Abs(moved)) {
						t.Fatalf("k=%d, row %d: next[%d] = %v, want %v", k, i, c, got, moved)
					}
				}
			}
		}
	}
}

// gapped returns zeros in rows with a gap between them.
func gapped(rows, cols, gap int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols + gap, Data: make([]float32, rows*(cols+gap))}
}

func TestAllEqualIsLinear(t *testing.T) {
	for _, d := range []int{2, 12} {
		n := 200_000 // n^2 weights would be 320 GB
		if d > base.MaxDirect {
			n = 20_000
		}
		p := pointtest.Make("identical", n, d, 1)
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(1), nil))
		if err != nil {
			t.Fatal(err)
		}
		if op.Weights.NNZ() != 0 {
			t.Errorf("%d stored weights", op.Weights.NNZ())
		}
		for i, deg := range op.Degrees() {
			if deg != float64(n-1) {
				t.Fatalf("degree %d = %v, want %d", i, deg, n-1)
			}
		}
		if cert := op.Certificate(); cert.RowMax > 1e-6 {
			t.Errorf("certificate %v", cert)
		}
	}
}

// v never rises, on every operator with its own weights, for both forms.
func TestObjectiveNeverRises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := pointtest.Draw(t, 60, operatorDims)
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of x"))
		b := Sigma(pointtest.TypicalDistance(p, rng) * math.Exp2(rapid.Float64Range(-3, 3).Draw(t, "octaves")))
		y := pointtest.RandomLabels(rng, p.Rows, 4, true)
		table := rapid.SampledFrom([]Table{EqualTable(), DifferentTable(), BalancedTable(), GaussianTable(Sigma(2))}).Draw(t, "table")
		labels, err := NewLabels(y, table, true)
		if err != nil {
			t.Fatalf("%v", err)
		}
		x := pointtest.RandomBlock(rng, p.Rows, 2)
		operators := operatorsOf(t, p, b, nil)
		for _, form := range []Form{Paper, Attract} {
			for _, alpha := range []float64{0, 0.1, 0.6, 2} {
				for _, op := range operators {
					checkDescent(t, op, x, labels, form, alpha)
				}
			}
		}
	})
}

func checkDescent(t pointtest.Tester, op Operator, x blas32.General, labels *Labels, form Form, alpha float64) {
	t.Helper()
	labels, err := labels.Permute(op.Order())
	if err != nil {
		t.Fatalf("%v", err)
	}
	step := &Step{Form: form, Labels: labels, Coefficient: alpha}
	n, k := x.Rows, x.Cols
	const steps = 4
	var st Stats
	previous := math.Inf(1)
	check := func(size, floor, rel float64) {
		// The two terms of v may nearly cancel; rounding is relative to their size.
		if st.Objective > previous+rel*(size+math.Abs(previous))+floor {
			t.Fatalf("%s, %v, coefficient %g: v rises from %.12g to %.12g", op.Name(), form, alpha, previous, st.Objective)
		}
		previous = st.Objective
	}
	degree := slices.Max(op.Degrees())
	if form == Attract {
		degree = float64(n) // of L_X over its mean row sum, at most
	}
	degree += math.Abs(alpha) * labelDegree(labels)
	// Rows that are equal in exact arithmetic are a few units apart where a product
	// is not the sum of their terms.
	floor := func(unit float64) float64 {
		if op.Name() != "poly" && op.Name() != "grid" {
			return 0
		}
		return 64 * degree * float64(n) * (unit * st.MaxAbs) * (unit * st.MaxAbs)
	}
	below := 0.0 // weights of grid may be below zero by what the certificate allows
	if op.Name() == "grid" {
		for i, d := range op.Degrees() {
			if d > 0 {
				below = max(below, op.Certificate().Eta(i))
			}
		}
	}
	if op64, ok := op.(Operator64); ok {
		in, out := pointtest.Widen(x), pointtest.Zeros64(n, k)
		if err := st.Gather64(in, labels); err != nil {
			t.Fatalf("%v", err)
		}
		for range steps {
			size, floor := degree*(st.Spread+1e-300), floor(0x1p-53)
			if err := op64.Step64(t.Context(), out, in, step, &st); err != nil {
				t.Fatalf("%v", err)
			}
			check(size, floor, 1e-12+below)
			in, out = out, in
		}
	}
	previous = math.Inf(1)
	in, out := x, pointtest.Zeros32(n, k)
	spare := pointtest.Zeros32(n, k)
	if err := st.Gather(in, labels); err != nil {
		t.Fatalf("%v", err)
	}
	for range steps {
		if st.MaxAbs > 1e15 {
			return
		}
		size, floor := degree*(st.Spread+1e-300), floor(0x1p-24)
		if err := op.Step(t.Context(), out, in, step, &st); err != nil {
			t.Fatalf("%v", err)
		}
		check(size, floor, 1e-6+below)
		if &in.Data[0] == &x.Data[0] {
			in = spare
		}
		in, out = out, in
	}
}

func labelDegree(l *Labels) float64 {
	most := 0.0
	for _, d := range l.own.Degree {
		most = max(most, math.Abs(d))
	}
	return most
}

func TestSameBitsForAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	for _, d := range []int{2, 3, 11} {
		p := pointtest.Make("clustered", 3000, d, 5)
		b := Sigma(pointtest.TypicalDistance(p, pointtest.Rand(2)) / 8)
		rng := pointtest.Rand(9)
		x, y := pointtest.RandomBlock(rng, p.Rows, 3), pointtest.RandomLabels(rng, p.Rows, 5, true)
		var want []Operator
		var wantStep []blas32.General
		for _, count := range []int{1, 2, 8} {
			workers := par.New(count)
			ops := operatorsOf(t, p, b, workers)
			for o, op := range ops {
				for _, form := range []Form{Paper, Attract} {
					got := stepGiven(t, op, x, y, form, 0.6)
					at := 2*o + int(form)
					if len(wantStep) <= at {
						wantStep = append(wantStep, got)
						continue
					}
					if !slices.Equal(got.Data, wantStep[at].Data) {
						t.Errorf("d=%d %s %v: %d workers change the step", d, op.Name(), form, count)
					}
				}
				if len(want) <= o {
					want = append(want, op)
				} else if !slices.Equal(op.Degrees(), want[o].Degrees()) || !slices.Equal(op.Certificate().Row, want[o].Certificate().Row) {
					t.Errorf("d=%d %s: %d workers change the degrees or the certificate", d, op.Name(), count)
				}
			}
			workers.Close()
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	for _, c := range []struct {
		kind string
		d    int
	}{{"uniform", 2}, {"lattice", 2}, {"uniform", 12}} { // without and with equal points, and by products
		kind := c.kind
		p := pointtest.Make(kind, 2000, c.d, 5)
		rng := pointtest.Rand(9)
		x, out := pointtest.RandomBlock(rng, p.Rows, 3), pointtest.Zeros32(p.Rows, 3)
		labels, err := NewLabels(pointtest.RandomLabels(rng, p.Rows, 5, true), EqualTable(), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range operatorsOf(t, p, Sigma(0.05), workers) {
			var st Stats
			step := &Step{Labels: labels, Coefficient: 0.1}
			if err := st.Gather(x, labels); err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			allocs := testing.AllocsPerRun(3, func() { // the warm-up run is the first
				if err := op.Step(ctx, out, x, step, &st); err != nil {
					t.Fatal(err)
				}
			})
			if allocs != 0 {
				t.Errorf("%s on %s points in %d dimensions: %v allocations per step", op.Name(), kind, c.d, allocs)
			}
		}
	}
}

func TestCancelledWorkStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := pointtest.Make("uniform", 500, 2, 1)
	if _, err := NewDense(ctx, p, Sigma(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("dense under a cancelled context: %v", err)
	}
	if _, err := openCSR(ctx, p, Sigma(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("csr under a cancelled context: %v", err)
	}
	if _, err := openGrid(ctx, p, Sigma(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("grid under a cancelled context: %v", err)
	}
	for _, op := range operatorsOf(t, p, Sigma(1), nil) {
		if err := op.Apply(ctx, pointtest.Zeros32(500, 1), pointtest.RandomBlock(pointtest.Rand(1), 500, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s under a cancelled context: %v", op.Name(), err)
		}
	}
}
