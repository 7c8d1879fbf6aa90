package privatemail

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine returns an Engine that plans with the constants of the planner: measurements
// on a machine loaded with tests would change the choice of the operator.
func engine(t *testing.T, opts ...Option) *Engine {
	t.Helper()
	e, err := New(append([]Option{WithCalibration(kernel.Calibration{})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func classes(t *testing.T, n, d int) (blas32.General, []int32) {
	t.Helper()
	x, y, err := synth.Classes(n, d, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

// Embed equals its parts put together by hand.
func TestEmbedEqualsItsParts(t *testing.T) {
	e := engine(t, WithWorkers(2))
	x, y := classes(t, 400, 16)
	ctx := t.Context()

	got, err := e.Embed(ctx, x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.7)}, Coefficient: 0.1, Dim: 3, SigmaQ: 1, Seed: 7, Steps: 3, Normalize: iterate.Centred})
	if err != nil {
		t.Fatal(err)
	}
	op, err := kernel.Build(ctx, x, kernel.Sigma(0.7), &kernel.Options{Steps: 3, Columns: 3, Calibration: &kernel.Calibration{}})
	if err != nil {
		t.Fatal(err)
	}
	labels, err := kernel.NewLabels(y, kernel.EqualTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	q, err := iterate.RandomStart(ctx, 400, 3, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := blas32.General{Rows: 400, Cols: 3, Stride: 3, Data: make([]float32, 1200)}
	for i, v := range q.Data {
		want.Data[i] = float32(v)
	}
	result, err := iterate.Run(ctx, op, want, kernel.Step{Labels: labels, Coefficient: 0.1}, &iterate.Settings{Steps: 3, Normalize: iterate.Centred}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.Data {
		if got.Points.At(i/3, i%3) != float64(v) {
			t.Fatalf("entry %d: %v, by hand %v", i, got.Points.At(i/3, i%3), v)
		}
	}
	if !slices.Equal(got.Trace, result.Trace) || got.Status != result.Status || got.Graph.Operator != "dense" {
		t.Errorf("trace %v, status %v, graph %+v", got.Trace, got.Status, got.Graph)
	}
}

// Attraction starts at the features and brings classes together; unlabelled
// rows follow their neighbours.
func TestAttractionSeparatesClasses(t *testing.T) {
	e := engine(t)
	x, y := classes(t, 600, 16)
	hidden := slices.Clone(y)
	for i := range 150 {
		hidden[i] = kernel.Unlabelled
	}
	got, err := e.Embed(t.Context(), x, hidden, &Settings{
		Graph: Graph{MeanNeighbours: 20, NormalizeRows: true}, Form: kernel.Attract, Coefficient: 3, AllowUnlabelled: true, Steps: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	before, after := classSpread(x.Data, x.Cols, y), classSpread(float32s(got.Points.RawMatrix().Data), x.Cols, y)
	if after > before/2 {
		t.Errorf("within-class share of the variance %g, was %g", after, before)
	}
	if g := got.Graph; g.Operator != "csr" || math.Abs(g.MeanNeighbours-20) > 5 || g.MeanDegree <= 0 || math.IsInf(g.Radius, 0) {
		t.Errorf("graph %+v", g)
	}
	for s := 1; s < len(got.Trace); s++ {
		if got.Trace[s].Objective > got.Trace[s-1].Objective {
			t.Errorf("the objective rises: %v", got.Trace)
		}
	}
}

// classSpread is the variance within classes relative to the total.
func classSpread(x []float32, d int, y []int32) float64 {
	mean, count, all := make(map[int32][]float64), make(map[int32]float64), make([]float64, d)
	n := float64(len(y))
	for i, c := range y {
		if mean[c] == nil {
			mean[c] = make([]float64, d)
		}
		count[c]++
		for a := range d {
			mean[c][a] += float64(x[i*d+a])
			all[a] += float64(x[i*d+a]) / n
		}
	}
	within, total := 0.0, 0.0
	for i, c := range y {
		for a := range d {
			v := float64(x[i*d+a])
			within += (v - mean[c][a]/count[c]) * (v - mean[c][a]/count[c])
			total += (v - all[a]) * (v - all[a])
		}
	}
	return within / total
}

func float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, f := range v {
		out[i] = float32(f)
	}
	return out
}

func TestEmbedIsReproducible(t *testing.T) {
	x, y := classes(t, 5000, 3)
	var want []float64
	for _, workers := range []int{1, 2, 8} {
		e := engine(t, WithWorkers(workers))
		got, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{MeanNeighbours: 10}, Coefficient: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got.Points.RawMatrix().Data
		} else if !slices.Equal(got.Points.RawMatrix().Data, want) {
			t.Errorf("%d workers change the embedding", workers)
		}
	}
}

// The level of the inner loops changes no bit, with and without equal rows, in
// few and many dimensions.
func TestEmbedAtEveryLevel(t *testing.T) {
	for _, c := range []struct{ n, d, equal int }{{5000, 3, 0}, {3000, 2, 40}, {600, 12, 0}} {
		x, y := classes(t, c.n, c.d)
		copy(x.Data[c.n/2*c.d:], x.Data[:c.equal*c.d])
		var want []float64
		for _, level := range simd.Levels() {
			e := engine(t, WithLevel(level))
			if e.Level() != level {
				t.Fatalf("level %v, want %v", e.Level(), level)
			}
			got, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{MeanNeighbours: 10, Operator: "csr"}, Coefficient: 0.01})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got.Points.RawMatrix().Data
			} else if !slices.Equal(got.Points.RawMatrix().Data, want) {
				t.Errorf("n=%d d=%d: %v changes the embedding", c.n, c.d, level)
			}
		}
	}
	if e := engine(t); e.Level() != simd.Best() {
		t.Errorf("the default is %v, not %v", e.Level(), simd.Best())
	}
	if e := engine(t, WithLevel(simd.AVX512VNNI)); e.Level() > simd.Best() {
		t.Errorf("the level was raised to %v", e.Level())
	}
}

func TestGivenStart(t *testing.T) {
	e := engine(t)
	x, _ := classes(t, 50, 4)
	start := blas32.General{Rows: 50, Cols: 1, Stride: 4, Data: x.Data} // first column, strided
	got, err := e.Embed(t.Context(), x, nil, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(100)}, Start: start, Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Nearly equal weights: every row moves half way to the mean of the others.
	mean := 0.0
	for i := range 50 {
		mean += float64(x.Data[4*i]) / 50
	}
	for i := range 50 {
		v := float64(x.Data[4*i])
		want := v/2 + (50*mean-v)/49/2
		if math.Abs(got.Points.At(i, 0)-want) > 1e-4 {
			t.Fatalf("row %d: %g, want %g", i, got.Points.At(i, 0), want)
		}
	}
	if rows, cols := got.Points.Dims(); rows != 50 || cols != 1 {
		t.Errorf("%d x %d", rows, cols)
	}
}

// The certificate of the result has the rows in the given order.
func TestCertificateIsInTheOrderOfTheRows(t *testing.T) {
	e := engine(t)
	x, _ := classes(t, 300, 2)
	x.Data[2*123], x.Data[2*123+1] = 50, 50 // far from all others
	got, err := e.Embed(t.Context(), x, nil, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.1), CutoffWeight: 1e-3}})
	if err != nil {
		t.Fatal(err)
	}
	for i, eta := range got.Graph.Certificate.Row {
		if math.IsInf(float64(eta), 1) != (i == 123) {
			t.Errorf("row %d has eta %g", i, eta)
		}
	}
}

func TestPlanNamesThePick(t *testing.T) {
	e := engine(t)
	x, y := classes(t, 300, 8)
	for _, s := range []*Settings{{Graph: Graph{Bandwidth: kernel.Sigma(1)}}, {Graph: Graph{MeanNeighbours: 12}}, {Graph: Graph{Bandwidth: kernel.Sigma(0.3), CutoffWeight: 0.01}}} {
		plan, err := e.Plan(t.Context(), x, s)
		if err != nil {
			t.Fatal(err)
		}
		s.Coefficient = 0.1
		got, err := e.Embed(t.Context(), x, y, s)
		if err != nil {
			t.Fatal(err)
		}
		if best := plan.Candidates[0]; best.Name != got.Graph.Operator || plan.Bandwidth != got.Graph.Bandwidth || best.Radius != got.Graph.Radius {
			t.Errorf("planned %+v at %v, got %+v", best, plan.Bandwidth, got.Graph)
		}
	}
}

func TestProgressCoversTheStages(t *testing.T) {
	var mu sync.Mutex
	last := make(map[string]Progress)
	e := engine(t, WithProgress(func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Done < 1 || p.Done > p.Total {
			t.Errorf("%+v", p)
		}
		last[p.Stage] = p
	}))
	x, y := classes(t, 500, 3)
	if _, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{MeanNeighbours: 10}, Coefficient: 0.1}); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"profile", "find neighbours", "steps"} {
		if p, ok := last[stage]; !ok || p.Done != p.Total {
			t.Errorf("stage %q ended at %+v", stage, p)
		}
	}
}

func TestRefusals(t *testing.T) {
	e := engine(t)
	x, y := classes(t, 40, 4)
	nan := blas32.General{Rows: 40, Cols: 4, Stride: 4, Data: slices.Clone(x.Data)}
	nan.Data[17*4+2] = float32(math.NaN())
	zero := blas32.General{Rows: 40, Cols: 4, Stride: 4, Data: slices.Clone(x.Data)}
	clear(zero.Data[8*4 : 9*4])
	sigma := kernel.Sigma(1)
	for _, c := range []struct {
		name string
		x    blas32.General
		y    []int32
		s    *Settings
		want error
	}{
		{"no settings", x, y, nil, ErrSettings},
		{"no bandwidth", x, y, &Settings{}, ErrSettings},
		{"bandwidth and degree", x, y, &Settings{Graph: Graph{Bandwidth: sigma, MeanNeighbours: 3}}, ErrSettings},
		{"negative degree", x, y, &Settings{Graph: Graph{MeanNeighbours: -3}}, ErrSettings},
		{"cutoff weight", x, y, &Settings{Graph: Graph{Bandwidth: sigma, CutoffWeight: 2}}, ErrSettings},
		{"columns", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Dim: -1}, ErrSettings},
		{"bad sigma", x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(-1)}}, kernel.ErrBandwidth},
		{"bad sigma with cutoff", x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(-1), CutoffWeight: 0.5}}, kernel.ErrBandwidth},
		{"labels missing", x, nil, &Settings{Graph: Graph{Bandwidth: sigma}, Coefficient: 1}, kernel.ErrLabels},
		{"labels short", x, y[:39], &Settings{Graph: Graph{Bandwidth: sigma}}, kernel.ErrLabels},
		{"unlabelled", x, append(slices.Clone(y[:39]), -1), &Settings{Graph: Graph{Bandwidth: sigma}}, kernel.ErrLabels},
		{"NaN row", nan, y, &Settings{Graph: Graph{Bandwidth: sigma}}, kernel.ErrNonFinite},
		{"NaN row to normalise", nan, y, &Settings{Graph: Graph{Bandwidth: sigma, NormalizeRows: true}}, kernel.ErrNonFinite},
		{"zero row to normalise", zero, y, &Settings{Graph: Graph{Bandwidth: sigma, NormalizeRows: true}}, ErrZeroRow},
		{"no rows", blas32.General{Rows: -1, Cols: 5, Stride: 5}, nil, &Settings{Graph: Graph{Bandwidth: sigma, NormalizeRows: true}}, kernel.ErrShape},
		{"empty", blas32.General{Cols: 5, Stride: 5}, nil, &Settings{Graph: Graph{Bandwidth: sigma, NormalizeRows: true}}, kernel.ErrEmpty},
		{"start stride", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Start: blas32.General{Rows: 40, Cols: 2, Stride: math.MaxInt / 2, Data: make([]float32, 4)}}, kernel.ErrShape},
		{"table without a function", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Coefficient: 1, Table: kernel.TableFunc("f", nil)}, kernel.ErrOption},
		{"sigma_q beyond float32", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, SigmaQ: 1e-60}, ErrSettings},
		{"stop", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, StopTolerance: -1}, ErrSettings},
		{"normalisation", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Normalize: 9}, ErrSettings},
		{"start rows", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Start: blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: make([]float32, 3)}}, kernel.ErrShape},
		{"operator", x, y, &Settings{Graph: Graph{Bandwidth: sigma, Operator: "magic"}}, kernel.ErrOperator},
		{"beta", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Form: kernel.Attract, Coefficient: -1}, ErrSettings},
		{"tolerance", x, y, &Settings{Graph: Graph{Bandwidth: sigma, Tolerance: 2}}, ErrSettings},
		{"isolated", x, y, &Settings{Graph: Graph{Bandwidth: sigma, Isolated: 9}}, ErrSettings},
		{"form", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Form: 7}, ErrSettings},
		{"too many neighbours", x, y, &Settings{Graph: Graph{MeanNeighbours: 1e9}}, ErrSettings},
		{"sigma_q", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, SigmaQ: -1}, ErrSettings},
		{"diverges", x, y, &Settings{Graph: Graph{Bandwidth: sigma}, Coefficient: 1e9, SigmaQ: 1, Steps: 50}, iterate.ErrDiverged},
	} {
		if _, err := e.Embed(t.Context(), c.x, c.y, c.s); !errors.Is(err, c.want) {
			t.Errorf("%s: err = %v, want %v", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, x, y, &Settings{Graph: Graph{Bandwidth: sigma}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: err = %v", err)
	}
	for _, opt := range []Option{WithWorkers(0), WithWorkers(5000), WithMaxMemory(0)} {
		if _, err := New(opt); !errors.Is(err, ErrSettings) {
			t.Errorf("err = %v", err)
		}
	}
}

func TestMaxMemory(t *testing.T) {
	e := engine(t, WithMaxMemory(1000))
	x, y := classes(t, 300, 8)
	if _, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}}); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("err = %v", err)
	}
	// 300 x 4000: the iterates alone take 20 bytes an entry.
	e = engine(t, WithMaxMemory(300*4000*19))
	var m *kernel.MemoryError
	if _, err := e.Embed(t.Context(), x, nil, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Dim: 4000}); !errors.As(err, &m) || m.What != "embedding of 300 x 4000" {
		t.Errorf("err = %v", err)
	}
}

// A table without a name is valid.
func TestUnnamedTable(t *testing.T) {
	e := engine(t)
	x, y := classes(t, 60, 3)
	var got [2]float64
	for i, name := range []string{"", "x"} {
		table := kernel.TableFunc(name, func(_, _ int32) float64 { return 7 })
		m, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Coefficient: 0.1, Table: table})
		if err != nil {
			t.Fatal(err)
		}
		got[i] = m.Points.At(0, 0)
	}
	if got[0] != got[1] {
		t.Errorf("%v", got)
	}
}

func TestCloseEndsTheEngine(t *testing.T) {
	e, err := New(WithWorkers(3))
	if err != nil {
		t.Fatal(err)
	}
	x, y := classes(t, 200, 3)
	var wg sync.WaitGroup
	for range 4 { // concurrent calls share the workers
		wg.Go(func() {
			if _, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}}); err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	if _, err := e.Embed(t.Context(), x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}}); !errors.Is(err, ErrClosed) {
		t.Errorf("err = %v", err)
	}
	if _, err := e.Plan(t.Context(), x, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}}); !errors.Is(err, ErrClosed) {
		t.Errorf("err = %v", err)
	}
}
