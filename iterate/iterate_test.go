package iterate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func randomMatrix(rng *rand.Rand, n, k int) blas32.General {
	m := newMatrix(n, k)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func labelsOf(t interface{ Fatalf(string, ...any) }, rng *rand.Rand, n int, table kernel.Table) *kernel.Labels {
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(4)) - 1
	}
	labels, err := kernel.NewLabels(y, table, true)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return labels
}

// The fused step of every operator against the step by its definition.
func TestFusedStepEqualsPlainStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n, k := rapid.IntRange(1, 70).Draw(t, "n"), rapid.IntRange(1, 19).Draw(t, "k")
		p := randomMatrix(rng, n, rapid.SampledFrom([]int{1, 2, 3, 9}).Draw(t, "d"))
		if rapid.Bool().Draw(t, "duplicates") {
			copy(p.Data[p.Cols*(n/2):], p.Data[:p.Cols*(n/2)])
		}
		x := randomMatrix(rng, n, k)
		form := rapid.SampledFrom([]kernel.Form{kernel.Paper, kernel.Attract}).Draw(t, "form")
		step := kernel.Step{Form: form, Coefficient: rapid.SampledFrom([]float64{0, 0.5, 3}).Draw(t, "coefficient")}
		if rapid.Bool().Draw(t, "labelled") {
			table := rapid.SampledFrom([]kernel.Table{kernel.EqualTable(), kernel.DifferentTable(), kernel.BalancedTable(), kernel.GaussianTable(kernel.Sigma(1))}).Draw(t, "table")
			step.Labels = labelsOf(t, rng, n, table)
		} else {
			step.Coefficient = 0
		}
		sigma := kernel.Sigma(rapid.SampledFrom([]float64{0.05, 0.5, 5}).Draw(t, "sigma"))
		for _, name := range []string{"dense", "csr"} {
			op, err := kernel.Build(t.Context(), p, sigma, &kernel.Options{Operator: name})
			if err != nil {
				t.Fatalf("%v", err)
			}
			if slices.ContainsFunc(op.Degrees(), func(d float64) bool { return d > 0 && d < 1e-30 }) {
				continue // W x is not a normal float32, so plainStep has no digits
			}
			// In the operator's order, any x and labels work.
			var st kernel.Stats
			if err := st.Gather(x, step.Labels); err != nil {
				t.Fatalf("%v", err)
			}
			fused, plain := newMatrix(n, k), newMatrix(n, k)
			if err := op.Step(t.Context(), fused, x, &step, &st); err != nil {
				t.Fatalf("%v", err)
			}
			v, err := plainStep(t.Context(), op, plain, x, step)
			if err != nil {
				t.Fatalf("%v", err)
			}
			// plainStep takes W x and L_Y x in float32: relative to their sizes,
			// divided by the degree.
			size := 0.0
			for i, d := range op.Degrees() {
				label := 0.0
				if step.Labels != nil {
					label = step.Coefficient * step.Labels.Degree(i)
				}
				size += 10 * float64(k) * (d + label)
				for c := range k {
					a, b := float64(row(fused, i)[c]), float64(row(plain, i)[c])
					room := 2e-6 * (1 + math.Abs(b))
					if d > 0 {
						room *= 1 + label/d
					}
					if math.Abs(a-b) > room {
						t.Fatalf("%s: row %d column %d: fused %g, plain %g", name, i, c, a, b)
					}
				}
			}
			if math.Abs(st.Objective-v) > 1e-5*(size+math.Abs(v)) {
				t.Fatalf("%s: objective fused %g, plain %g", name, st.Objective, v)
			}
			if st.MaxAbs <= points.LargestEntry { // otherwise the run ends here
				checkSums(t, &st, fused, 1e-11)
			}
		}
	})
}

// checkSums compares the sums that a step reports with its output.
func checkSums(t interface{ Fatalf(string, ...any) }, st *kernel.Stats, x blas32.General, rel float64) {
	var fresh kernel.Stats
	if err := fresh.Gather(x, nil); err != nil {
		t.Fatalf("%v", err)
	}
	if st.MaxAbs != fresh.MaxAbs || math.Abs(st.Spread-fresh.Spread) > rel*(1+fresh.Spread) {
		t.Fatalf("reported spread %g, max %g; in fact %g, %g", st.Spread, st.MaxAbs, fresh.Spread, fresh.MaxAbs)
	}
	for c, m := range fresh.Mean {
		if math.Abs(st.Mean[c]-m) > rel*(1+fresh.MaxAbs) {
			t.Fatalf("reported mean %g, in fact %g", st.Mean[c], m)
		}
	}
}

func build(t *testing.T, p blas32.General, workers *par.Workers, name string) kernel.Operator {
	t.Helper()
	op, err := kernel.Build(t.Context(), p, kernel.Sigma(0.5), &kernel.Options{Operator: name, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// The change of a normalised step, found without a pass, agrees with the rows.
func TestNormalizedChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	p := randomMatrix(rng, 200, 2)
	for _, mode := range []Normalization{Frobenius, Centred} {
		x := randomMatrix(rng, 200, 2)
		for i := range x.Data {
			x.Data[i] += 1
		}
		var ws Workspace
		if err := ws.begin(build(t, p, nil, "dense"), x, kernel.Step{}, Settings{Normalize: mode}); err != nil {
			t.Fatal(err)
		}
		for s := 1; s <= 4; s++ {
			before := slices.Clone(ws.x.Data)
			spread := ws.stats.Spread
			record, err := ws.advance(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			change := 0.0
			for i, v := range ws.x.Data {
				e := float64(v) - float64(before[i])
				change += e * e
			}
			// The start is not centred; from the second step on the iterate is.
			if want := math.Sqrt(change / spread); s > 1 && math.Abs(record.Change-want) > 1e-5*(1+want) {
				t.Errorf("%v, step %d: change %g, in fact %g", mode, s, record.Change, want)
			}
		}
	}
}

// A run takes its steps one after another, in the order of the points.
func TestRunTakesTheSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p, start := randomMatrix(rng, 300, 2), randomMatrix(rng, 300, 3)
	labels := labelsOf(t, rng, 300, kernel.EqualTable())
	step := kernel.Step{Labels: labels, Coefficient: 0.1}
	op := build(t, p, nil, "csr")
	if op.Order() == nil {
		t.Fatal("the test wants an operator with an order of its own")
	}
	x := newMatrix(300, 3)
	copy(x.Data, start.Data)
	var seen []Record
	result, err := Run(t.Context(), op, x, step, &Settings{Steps: 4, Progress: func(r Record) { seen = append(seen, r) }}, nil)
	if err != nil {
		t.Fatal(err)
	}

	permuted, err := labels.Permute(op.Order())
	if err != nil {
		t.Fatal(err)
	}
	inner := kernel.Step{Labels: permuted, Coefficient: 0.1}
	in, out := newMatrix(300, 3), newMatrix(300, 3)
	for i, from := range op.Order() {
		copy(row(in, i), row(start, int(from)))
	}
	for s := range 4 {
		v, err := plainStep(t.Context(), op, out, in, inner)
		if err != nil {
			t.Fatal(err)
		}
		if r := result.Trace[s]; r.Step != s+1 || math.Abs(r.Objective-v) > 1e-5*math.Abs(v) {
			t.Errorf("step %d: record %+v, plain objective %g", s+1, r, v)
		}
		if s > 0 && result.Trace[s].Objective > result.Trace[s-1].Objective {
			t.Errorf("the objective rises at step %d: %+v", s+1, result.Trace)
		}
		in, out = out, in
	}
	for i, from := range op.Order() {
		for c := range 3 {
			a, b := float64(row(x, int(from))[c]), float64(row(in, i)[c])
			if math.Abs(a-b) > 1e-4*(1+math.Abs(b)) {
				t.Fatalf("row %d column %d: %g, plain %g", from, c, a, b)
			}
		}
	}
	if result.Status != StepLimit || !slices.Equal(seen, result.Trace) {
		t.Errorf("status %v, progress %v, trace %v", result.Status, seen, result.Trace)
	}
}

func TestNormalisation(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	rng := rand.New(rand.NewPCG(2, 1))
	p := randomMatrix(rng, 5000, 2)
	labels := labelsOf(t, rng, 5000, kernel.EqualTable())
	for _, name := range []string{"none", "frobenius", "centred"} {
		mode, err := NormalizationByName(name)
		if err != nil || mode.String() != name {
			t.Fatal(mode, err)
		}
		x := randomMatrix(rng, 5000, 2)
		for i := range x.Data {
			x.Data[i] += 3
		}
		op := build(t, p, workers, "csr")
		if _, err := Run(t.Context(), op, x, kernel.Step{Labels: labels, Coefficient: 0.01}, &Settings{Steps: 3, Normalize: mode, Workers: workers}, nil); err != nil {
			t.Fatal(err)
		}
		norm2, sum := 0.0, 0.0
		for _, v := range x.Data {
			norm2 += float64(v) * float64(v)
			sum += float64(v)
		}
		if mode != None && math.Abs(norm2/5000-1) > 1e-5 {
			t.Errorf("%s: |X|^2 = %g n", name, norm2/5000)
		}
		if mode == Centred && math.Abs(sum)/5000 > 1e-4 {
			t.Errorf("%s: mean %g", name, sum/5000)
		}
		if mode == None && math.Abs(norm2/5000-1) < 1 {
			t.Errorf("%s: |X|^2 = %g n, yet nothing was to be scaled", name, norm2/5000)
		}
	}
	if _, err := NormalizationByName("other"); !errors.Is(err, kernel.ErrOption) {
		t.Errorf("err = %v", err)
	}
}

// Steps after a normalisation use sums that were transformed, not computed
// again.
func TestNormalisedSumsStayTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	p := randomMatrix(rng, 400, 2)
	labels := labelsOf(t, rng, 400, kernel.EqualTable())
	op := build(t, p, nil, "dense")
	x := randomMatrix(rng, 400, 2)
	var ws Workspace
	if err := ws.begin(op, x, kernel.Step{Labels: labels, Coefficient: 0.01}, Settings{Steps: 3, Normalize: Centred}); err != nil {
		t.Fatal(err)
	}
	for s := 1; s <= 3; s++ {
		plain := newMatrix(400, 2)
		if s > 1 {
			if _, err := plainStep(t.Context(), op, plain, ws.x, ws.step); err != nil {
				t.Fatal(err)
			}
		}
		if err := ws.op.Step(t.Context(), ws.next, ws.x, &ws.step, &ws.stats); err != nil {
			t.Fatal(err)
		}
		if s > 1 {
			for i, v := range plain.Data {
				if math.Abs(float64(ws.next.Data[i]-v)) > 1e-4*(1+math.Abs(float64(v))) {
					t.Fatalf("step %d entry %d: %g, plain %g", s, i, ws.next.Data[i], v)
				}
			}
		}
		ws.x, ws.next = ws.next, ws.x
		if err := ws.normalize(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkSums(t, &kernel.Stats{Mean: ws.stats.Mean, Spread: ws.stats.Spread, MaxAbs: maxOf(ws.x)}, ws.x, 1e-6)
	}
}

func maxOf(x blas32.General) float64 {
	most := 0.0
	for _, v := range x.Data {
		most = max(most, math.Abs(float64(v)))
	}
	return most
}

func TestConverges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	p, x := randomMatrix(rng, 50, 2), randomMatrix(rng, 50, 2)
	op := build(t, p, nil, "dense")
	result, err := Run(t.Context(), op, x, kernel.Step{}, &Settings{Steps: 2000, Tolerance: 1e-3, Normalize: Centred}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last := result.Trace[len(result.Trace)-1]; result.Status != Converged || last.Change > 1e-3 || len(result.Trace) == 2000 {
		t.Errorf("%v after %d steps, last %+v", result.Status, len(result.Trace), last)
	}
}

func TestDivergence(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	p, x := randomMatrix(rng, 50, 2), randomMatrix(rng, 50, 2)
	start := slices.Clone(x.Data)
	labels := labelsOf(t, rng, 50, kernel.EqualTable())
	op := build(t, p, nil, "dense")
	_, err := Run(t.Context(), op, x, kernel.Step{Labels: labels, Coefficient: 1e6}, &Settings{Steps: 100}, nil)
	var d *divergedError
	if !errors.As(err, &d) || !errors.Is(err, ErrDiverged) || d.Step < 1 || d.Step > 20 {
		t.Fatalf("err = %v", err)
	}
	if !slices.Equal(x.Data, start) {
		t.Error("the start was changed by a run that failed")
	}
	if _, err := Run(t.Context(), op, x, kernel.Step{Labels: labels, Coefficient: 1e6}, &Settings{Steps: 100, Normalize: Frobenius}, nil); err != nil {
		t.Errorf("normalised: %v", err)
	}
}

// slow is a fake operator: iterate needs only the interface of kernel.
type slow struct {
	kernel.Operator
	n      int
	cancel context.CancelFunc
	after  int
}

func (s *slow) N() int          { return s.n }
func (s *slow) Order() []uint32 { return nil }

func (s *slow) Complete(context.Context, blas32.General) error { return nil }

func (s *slow) Step(ctx context.Context, dst, x blas32.General, _ *kernel.Step, _ *kernel.Stats) error {
	if s.after--; s.after == 0 {
		s.cancel()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, v := range x.Data {
		dst.Data[i] = v + 1
	}
	return nil
}

func TestCancellationLeavesTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x := newMatrix(4, 1)
	_, err := Run(ctx, &slow{n: 4, cancel: cancel, after: 3}, x, kernel.Step{}, &Settings{Steps: 10}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
	if !slices.Equal(x.Data, make([]float32, 4)) {
		t.Errorf("x = %v after a cancelled run", x.Data)
	}
	if _, err := Run(t.Context(), &slow{n: 4, cancel: cancel}, x, kernel.Step{}, &Settings{Steps: 10}, nil); err != nil || x.Data[0] != 10 {
		t.Errorf("x = %v, err = %v", x.Data, err)
	}
}

func TestStepsAllocateNothing(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	rng := rand.New(rand.NewPCG(6, 1))
	p, x := randomMatrix(rng, 2000, 2), randomMatrix(rng, 2000, 3)
	labels := labelsOf(t, rng, 2000, kernel.EqualTable())
	ctx := t.Context()
	for _, name := range []string{"dense", "csr"} {
		for _, mode := range []Normalization{None, Centred} {
			var ws Workspace
			if err := ws.begin(build(t, p, workers, name), x, kernel.Step{Labels: labels, Coefficient: 1e-3}, Settings{Normalize: mode, Workers: workers}); err != nil {
				t.Fatal(err)
			}
			s := 0
			if n := testing.AllocsPerRun(3, func() { // the warm-up run is the first step
				s++
				if _, err := ws.advance(ctx, s); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s, %v: %v allocations per step", name, mode, n)
			}
		}
	}
}

func TestWorkspaceIsReusable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	var ws Workspace
	for _, n := range []int{40, 40, 25, 60} {
		p, start := randomMatrix(rng, n, 2), randomMatrix(rng, n, 2)
		labels := labelsOf(t, rng, n, kernel.EqualTable())
		op := build(t, p, nil, "csr")
		a, b := newMatrix(n, 2), newMatrix(n, 2)
		copy(a.Data, start.Data)
		copy(b.Data, start.Data)
		step := kernel.Step{Labels: labels, Coefficient: 0.01}
		if _, err := Run(t.Context(), op, a, step, nil, &ws); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), op, b, step, nil, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Data, b.Data) {
			t.Errorf("n=%d: a used workspace changes the result", n)
		}
	}
}

// The same labels over operators with different orders of their own.
func TestWorkspaceFollowsTheOperator(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	labels := labelsOf(t, rng, 80, kernel.EqualTable())
	start := randomMatrix(rng, 80, 2)
	var ws Workspace
	for range 3 {
		p := randomMatrix(rng, 80, 2)
		for i := range p.Data {
			p.Data[i] *= 10 // sparse, and so with an order of its own
		}
		op := build(t, p, nil, "csr")
		if op.Order() == nil {
			t.Fatal("the test wants an operator with an order of its own")
		}
		a, b := newMatrix(80, 2), newMatrix(80, 2)
		copy(a.Data, start.Data)
		copy(b.Data, start.Data)
		step := kernel.Step{Form: kernel.Attract, Labels: labels, Coefficient: 1}
		if _, err := Run(t.Context(), op, a, step, nil, &ws); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), op, b, step, nil, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Data, b.Data) {
			t.Error("labels in the order of another operator")
		}
	}
}

func TestBadSettings(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	p, x := randomMatrix(rng, 10, 2), randomMatrix(rng, 10, 2)
	op := build(t, p, nil, "dense")
	short := labelsOf(t, rng, 9, kernel.EqualTable())
	bad := randomMatrix(rng, 10, 2)
	bad.Data[7] = float32(math.Inf(1))
	for _, c := range []struct {
		name string
		x    blas32.General
		step kernel.Step
		s    *Settings
		want error
	}{
		{"steps", x, kernel.Step{}, &Settings{Steps: -1}, kernel.ErrOption},
		{"tolerance", x, kernel.Step{}, &Settings{Tolerance: math.NaN()}, kernel.ErrOption},
		{"normalisation", x, kernel.Step{}, &Settings{Normalize: 9}, kernel.ErrOption},
		{"start rows", randomMatrix(rng, 9, 2), kernel.Step{}, nil, kernel.ErrShape},
		{"start storage", blas32.General{Rows: 10, Cols: 2, Stride: 2, Data: make([]float32, 7)}, kernel.Step{}, nil, kernel.ErrShape},
		{"start stride", blas32.General{Rows: 10, Cols: 2, Stride: math.MaxInt / 2, Data: make([]float32, 4)}, kernel.Step{}, nil, kernel.ErrShape},
		{"labels", x, kernel.Step{Labels: short}, nil, kernel.ErrLabels},
		{"start not finite", bad, kernel.Step{}, nil, kernel.ErrNonFinite},
	} {
		if _, err := Run(t.Context(), op, c.x, c.step, c.s, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: err = %v, want %v", c.name, err, c.want)
		}
	}
}
