package iterate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// A shared run is one that ranks share.
type sharedRun struct {
	operator string
	d        int
	sigma    float64
	options  kernel.Options
}

var sharedRuns = []sharedRun{
	{operator: "csr", d: 2, sigma: 0.1, options: kernel.Options{CutoffRadius: 0.25}},
	{operator: "pairs", d: 2, sigma: 0.1, options: kernel.Options{CutoffRadius: 0.25}},
	{operator: "csr", d: 12, sigma: 1.5, options: kernel.Options{CutoffRadius: 3}},
	{operator: "dense", d: 3, sigma: 0.5},
	{operator: "poly", d: 6, sigma: 20},
	{operator: "grid", d: 2, sigma: 0.5},
}

func (r *sharedRun) build(ctx context.Context, ranks *par.Ranks) (kernel.Operator, error) {
	rng := rand.New(rand.NewPCG(4, 9))
	p := randomMatrix(rng, 4000, r.d)
	if r.operator == "dense" {
		p = randomMatrix(rng, 1100, r.d)
	}
	for i := range 60 { // equal points
		copy(row(p, 2*i), row(p, 0))
	}
	o := r.options
	o.Operator, o.Ranks = r.operator, ranks
	return kernel.Build(ctx, p, kernel.Sigma(r.sigma), &o)
}

// outcome returns the results of runs with several settings, as text that shows
// every bit.
func (r *sharedRun) outcome(ctx context.Context, ranks *par.Ranks) (string, error) {
	op, err := r.build(ctx, ranks)
	if err != nil {
		return "", err
	}
	defer op.Close()
	y := make([]int32, op.N())
	for i := range y {
		y[i] = int32(i%7) - 1
	}
	labels, err := kernel.NewLabels(y, kernel.BalancedTable(), true)
	if err != nil {
		return "", err
	}
	workers := par.New(2)
	defer workers.Close()
	out, ws := "", new(Workspace)
	for _, c := range []struct {
		k        int
		step     kernel.Step
		settings Settings
	}{
		{2, kernel.Step{}, Settings{Steps: 3}},
		{3, kernel.Step{Form: kernel.Attract, Labels: labels, Coefficient: 2}, Settings{Steps: 3, Normalize: Frobenius, Workers: workers}},
		{2, kernel.Step{Form: kernel.Attract, Labels: labels, Coefficient: 0.5}, Settings{Steps: 40, Normalize: Centred, Tolerance: 0.05}},
		{17, kernel.Step{Labels: labels, Coefficient: 1e-3}, Settings{Steps: 2, Overwrite: true}},
		{1, kernel.Step{Labels: labels, Coefficient: 1e-3}, Settings{Steps: 2, Into: newMatrix(op.N(), 1)}},
	} {
		x := randomMatrix(rand.New(rand.NewPCG(3, uint64(c.k))), op.N(), c.k)
		told := 0
		c.settings.Taken = func(int, int) { told++ }
		result, err := Run(ctx, op, x, c.step, &c.settings, ws)
		if err != nil {
			return "", err
		}
		out += fmt.Sprintf("%x %x %x %v %d\n", x.Data, c.settings.Into.Data, result.Trace, result.Status, told)
	}
	return out, nil
}

func TestRanksShareARun(t *testing.T) {
	for _, r := range sharedRuns {
		want, err := r.outcome(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range longtest.Pick([]int{3}, []int{2, 3, 6}, []int{2, 3, 6}) {
			if err := cluster.Local(size, func(ranks *par.Ranks) error {
				if got, err := r.outcome(t.Context(), ranks); err != nil || got != want {
					return fmt.Errorf("another run than that of one process: %w", err)
				}
				return nil
			}); err != nil {
				t.Errorf("%s, %d dimensions, %d ranks: %v", r.operator, r.d, size, err)
			}
		}
	}
}

// Each of two ranks has rows to compute, for every operator.
func TestSharedRunsHaveSeveralChunks(t *testing.T) {
	for _, r := range sharedRuns {
		if err := cluster.Local(2, func(ranks *par.Ranks) error {
			op, err := r.build(t.Context(), ranks)
			if err != nil {
				return err
			}
			defer op.Close()
			if lo, hi := op.Part(); lo == hi {
				return errors.New("no rows")
			}
			return nil
		}); err != nil {
			t.Errorf("%s, %d dimensions: %v", r.operator, r.d, err)
		}
	}
}

// A rank whose context ends also ends the others, and its start is unchanged.
func TestCancelledRankEndsTheRun(t *testing.T) {
	r := sharedRuns[0]
	err := cluster.Local(3, func(ranks *par.Ranks) error {
		op, err := r.build(t.Context(), ranks)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		x := randomMatrix(rand.New(rand.NewPCG(3, 1)), op.N(), 2)
		start := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: slices.Clone(x.Data)}
		_, err = Run(ctx, op, x, kernel.Step{}, &Settings{Steps: 1 << 20, Taken: func(done, _ int) {
			if done == 3 && ranks.Rank() == 2 {
				cancel()
			}
		}}, nil)
		if !slices.Equal(x.Data, start.Data) {
			t.Errorf("rank %d has another start", ranks.Rank())
		}
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
