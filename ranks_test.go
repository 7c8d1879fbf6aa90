package privatemail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/post"
)

// onRanks gives every rank an Engine with the options and lets it work.
func onRanks(size int, work func(e *Engine, ranks *par.Ranks) error, opts ...Option) error {
	return cluster.Local(size, func(ranks *par.Ranks) error {
		e, err := New(append([]Option{WithCalibration(kernel.Calibration{}), WithRanks(ranks)}, opts...)...)
		if err != nil {
			return err
		}
		defer e.Close()
		return work(e, ranks)
	})
}

// buffer returns memory for points.
func buffer(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

// Calls on ranks have the same bits as one process: points, trace and
// certificate.
func TestRanksChangeNoBit(t *testing.T) {
	low, lowLabels := classes(t, 900, 3)
	high, highLabels := classes(t, 300, 24)
	unit := func(s Settings) *Settings { s.NormalizeRows = true; return &s }
	embed := func(x blas32.General, y []int32, s *Settings) func(context.Context, *Engine) (any, error) {
		return func(ctx context.Context, e *Engine) (any, error) {
			out, err := e.Embed(ctx, x, y, s)
			if err != nil {
				return nil, err
			}
			return []any{bitsOf(out.Points), out.Trace, out.Graph.Certificate, out.Graph.Cost.NNZ, out.Graph.Operator}, nil
		}
	}
	s, _ := paid(t)
	release, err := engine(t).Privatize(t.Context(), high, highLabels, s)
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]func(context.Context, *Engine) (any, error){
		"csr in few dimensions":  embed(low, lowLabels, &Settings{Graph: Graph{MeanNeighbours: 12, Operator: "csr"}, Coefficient: 0.1, Dim: 3, Normalize: iterate.Centred}),
		"csr in many dimensions": embed(high, highLabels, &Settings{Graph: Graph{MeanNeighbours: 12, Operator: "csr"}, Coefficient: 0.1}),
		"nearest neighbours":     embed(high, highLabels, &Settings{Graph: Graph{Neighbours: 8}, Coefficient: 3, Form: kernel.Attract}),
		"pairs":                  embed(low, lowLabels, &Settings{Graph: Graph{MeanNeighbours: 12, Operator: "pairs"}, Coefficient: 0.1}),
		"dense":                  embed(high, highLabels, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1), Operator: "dense"}, Coefficient: 0.1}),
		"poly":                   embed(high, highLabels, unit(Settings{Graph: Graph{Bandwidth: kernel.Sigma(6), Operator: "poly"}, Coefficient: 0.6})),
		"grid":                   embed(low, lowLabels, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1), Operator: "grid", Tolerance: 1e-3}, Coefficient: 0.1}),
		"planned":                embed(low, lowLabels, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.3)}, Coefficient: 0.1}),
		"attract":                embed(low, lowLabels, unit(Settings{Graph: Graph{MeanNeighbours: 12}, Coefficient: 3, Form: kernel.Attract, Steps: 3})),
		"into": func(ctx context.Context, e *Engine) (any, error) {
			into := buffer(low.Rows, 2)
			_, err := e.Embed(ctx, low, nil, &Settings{Graph: Graph{MeanNeighbours: 12}, Into: into})
			return into.Data, err
		},
		"overwrite": func(ctx context.Context, e *Engine) (any, error) {
			x := high
			x.Data = slices.Clone(high.Data)
			_, err := e.Embed(ctx, x, highLabels, &Settings{Graph: Graph{MeanNeighbours: 12}, Coefficient: 3, Form: kernel.Attract, Steps: 2, Into: x, Overwrite: true})
			return x.Data, err
		},
		"map": func(ctx context.Context, e *Engine) (any, error) {
			out, err := e.Map(ctx, high, &MapSettings{Graph: Graph{Neighbours: 10}})
			if err != nil {
				return nil, err
			}
			return []any{bitsOf(out.Points), out.Values, out.Components}, nil
		},
		"converge": func(ctx context.Context, e *Engine) (any, error) {
			out, err := e.Converge(ctx, low, lowLabels, &ConvergeSettings{Graph: Graph{MeanNeighbours: 12}, Coefficient: 1})
			if err != nil {
				return nil, err
			}
			return []any{bitsOf(out.Points), out.Values}, nil
		},
		"continue": func(ctx context.Context, e *Engine) (any, error) {
			out, err := e.Continue(ctx, release, nil, &post.Settings{MeanNeighbours: 10})
			if err != nil {
				return nil, err
			}
			return []any{bitsOf(out.Points), out.Trace}, nil
		},
		"plan": func(ctx context.Context, e *Engine) (any, error) {
			out, err := e.Plan(ctx, low, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(0.3)}})
			if err != nil {
				return nil, err
			}
			for i := range out.Candidates { // the memory of a rank differs
				out.Candidates[i].Cost.ResidentBytes, out.Candidates[i].Cost.PeakBytes = 0, 0
			}
			text, err := json.Marshal(out)
			return string(text), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := work(t.Context(), engine(t, WithWorkers(1), WithMaxMemory(1<<30)))
			want := fmt.Sprint(out, err)
			for _, size := range []int{1, 2, 4} {
				got := make([]string, size)
				err := onRanks(size, func(e *Engine, ranks *par.Ranks) error {
					out, err := work(t.Context(), e)
					got[ranks.Rank()] = fmt.Sprint(out, err)
					return err
				}, WithWorkers(1), WithMaxMemory(1<<30))
				if err != nil {
					t.Error(err)
				}
				for r := range got {
					if got[r] != want {
						t.Errorf("rank %d of %d: other results from %q on, of one process %q", r, size, differing(got[r], want), differing(want, got[r]))
					}
				}
			}
		})
	}
}

// differing returns where a begins to differ from b.
func differing(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return a[max(i-80, 0):min(i+80, len(a))]
}

// bitsOf returns the bits of points.
func bitsOf(m *mat.Dense) (bits []uint64) {
	for _, v := range m.RawMatrix().Data {
		bits = append(bits, math.Float64bits(v))
	}
	return bits
}

// Ranks that cannot work together all get an error when they start.
func TestRanksAgree(t *testing.T) {
	fast := terms{level: simd.AVX512, processors: 4, maxMemory: 3000, scalar: 2, vector: 3, sparse: 4}
	slow := terms{level: simd.AVX2, processors: 2, maxMemory: 1000, scalar: 5}
	arm := terms{level: simd.NEON, processors: 2, maxMemory: 1000}
	set := fast
	set.workers = 7
	less := fast
	less.processors, less.maxMemory, less.scalar = 2, 1000, 9
	for _, c := range []struct {
		name  string
		all   []terms
		words string // of the error
	}{
		{"the same", []terms{fast, fast}, ""},
		{"less", []terms{fast, less, fast}, ""},
		{"levels", []terms{fast, fast, slow}, "rank 2 has avx2, whose last bits can differ: set PM_SIMD=avx2 on all ranks"},
		{"processors of another kind", []terms{fast, arm}, "PM_SIMD=generic on all ranks"},
		{"workers", []terms{fast, set}, "ranks 0 and 1 have different numbers of workers"},
	} {
		var o options
		err := o.settle(c.all)
		if (err != nil) != (c.words != "") || err != nil && (!errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && (o.agreedMemory != c.all[min(1, len(c.all)-1)].maxMemory || o.workers != c.all[1].processors || *o.calibration != kernel.Calibration{Scalar: 2, Vector: 3, Sparse: 4}) {
			t.Errorf("%s: %+v", c.name, o)
		}
		for _, term := range c.all {
			if termsOf(term.words()) != term || len(term.words()) != termCount {
				t.Errorf("%+v becomes %+v", term, termsOf(term.words()))
			}
		}
	}
	limits := make([]int64, 3)
	err := cluster.Local(3, func(ranks *par.Ranks) error {
		e, err := New(WithRanks(ranks), WithRanksHere(3), WithMaxMemory(int64(1000*(3-ranks.Rank()))))
		if err != nil {
			return err
		}
		defer e.Close()
		limits[ranks.Rank()] = e.measure()
		if e.Workers() < 1 || e.options.calibration == nil {
			t.Errorf("%d workers, calibration %v", e.Workers(), e.options.calibration)
		}
		return nil
	})
	if err != nil || !slices.Equal(limits, []int64{1000, 1000, 1000}) {
		t.Errorf("limits %d, %v", limits, err)
	}
	err = cluster.Local(2, func(ranks *par.Ranks) error {
		_, err := New(WithRanks(ranks), WithWorkers(1+ranks.Rank()))
		return err
	})
	if !errors.Is(err, ErrSettings) {
		t.Error(err)
	}
	if _, err := New(WithRanksHere(0)); !errors.Is(err, ErrSettings) {
		t.Error(err)
	}
}

// Work that belongs to one process is refused on ranks, before the ledger is
// touched.
func TestRanksRefuse(t *testing.T) {
	x, y := classes(t, 60, 4)
	s, ledger := paid(t)
	before, _ := ledger.Head()
	err := onRanks(2, func(e *Engine, ranks *par.Ranks) error {
		for name, call := range map[string]func() error{
			"privatize": func() error { _, err := e.Privatize(t.Context(), x, y, s); return err },
			"kernel": func() error {
				_, err := e.Kernel(t.Context(), x, &KernelSettings{Graph: Graph{Bandwidth: kernel.Sigma(1)}})
				return err
			},
			"graph": func() error { _, err := e.NeighbourGraph(t.Context(), x, &Graph{Neighbours: 5}); return err },
		} {
			if err := call(); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "one process") {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	}, WithWorkers(1))
	if err != nil {
		t.Error(err)
	}
	if after, _ := ledger.Head(); after != before {
		t.Error("the ledger has a new spend")
	}
}

// A call at the same time as another is refused, except within Reserve.
func TestRanksTakeOneCallAtATime(t *testing.T) {
	x, _ := classes(t, 60, 4)
	err := onRanks(2, func(e *Engine, ranks *par.Ranks) error {
		return e.Reserve(t.Context(), 1, func(ctx context.Context) error {
			if _, err := e.Embed(t.Context(), x, nil, &Settings{Graph: Graph{Neighbours: 5}}); !errors.Is(err, ErrSettings) {
				t.Errorf("next to Reserve: %v", err)
			}
			_, err := e.Embed(ctx, x, nil, &Settings{Graph: Graph{Neighbours: 5}})
			return err
		})
	}, WithWorkers(1))
	if err != nil {
		t.Error(err)
	}
}
