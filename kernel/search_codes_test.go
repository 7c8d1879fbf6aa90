package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// Memory is refused before it is taken, cancelled searches end with the context's
// error, and progress goes from little to all.
func TestSearchLimitCancellationAndProgress(t *testing.T) {
	p, _ := pointtest.Hard(pointtest.Rand(11), 700, 40)
	radius := pointtest.TypicalDistance(p, pointtest.Rand(4))
	workers := par.New(2)
	defer workers.Close()
	for name, o := range map[string]Options{"radius": {CutoffRadius: radius}, "nearest": {Neighbours: 7}} {
		o.Workers = workers
		small := o
		small.MaxMemory = 1000
		if _, err := openCSR(t.Context(), p, Sigma(radius), &small); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: err = %v", name, err)
		}
		// Enough for the search, not for what it finds.
		small.MaxMemory = graph.SearchBytes(p.Rows, p.Cols, &base.Options{Workers: workers}) + 20_000
		if _, err := openCSR(t.Context(), p, Sigma(radius), &small); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: err = %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int64
		var reports []int
		o.Progress = func(_ string, d, total int) {
			if reports = append(reports, d); d > total {
				t.Errorf("%s: %d of %d", name, d, total)
			}
			if done.Add(1) == 2 {
				cancel()
			}
		}
		if _, err := openCSR(ctx, p, Sigma(radius), &o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: err = %v", name, err)
		}
		if !slices.IsSorted(reports) || len(reports) < 2 {
			t.Errorf("%s: progress %v", name, reports)
		}
		cancel()
	}
}

// Workers change nothing.
func TestSearchIsTheSameForAnyWorkers(t *testing.T) {
	for _, d := range []int{30, 200} {
		p, _ := pointtest.Hard(pointtest.Rand(13), 900, d)
		radius := pointtest.TypicalDistance(p, pointtest.Rand(4)) / 1.2
		for _, o := range []Options{{CutoffRadius: radius}, {Neighbours: 5}} {
			one, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(radius), &o))
			if err != nil {
				t.Fatal(err)
			}
			for _, count := range []int{2, 5} {
				workers := par.New(count)
				o.Workers = workers
				many, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(radius), &o))
				workers.Close()
				if err != nil {
					t.Fatal(err)
				}
				same := slices.Equal(one.GivenRows, many.GivenRows) && slices.Equal(one.RowSums, many.RowSums) && slices.Equal(one.Cert.Row, many.Cert.Row)
				for i := range one.Weights.Rows() {
					a, v := one.Weights.Row(i, nil)
					b, w := many.Weights.Row(i, nil)
					same = same && slices.Equal(a, b) && slices.Equal(v, w)
				}
				if !same {
					t.Errorf("d=%d: %d workers change the graph", d, count)
				}
			}
		}
	}
}

// Groups that are far apart are told apart, however few there are.
func TestLeadersOfFewGroups(t *testing.T) {
	const n, d = 4000, 96
	for _, groups := range []int{3, 5, 9, 12} {
		t.Run(fmt.Sprint(groups), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(groups)))
			centres := pointtest.Fill(groups*d, func(int) float64 { return 3 * rng.NormFloat64() })
			p := blas32.General{Rows: n, Cols: d, Stride: d, Data: pointtest.Fill(n*d, func(i int) float64 {
				return float64(centres[i/d%groups*d+i%d]) + 0.3*rng.NormFloat64()
			})}
			op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(2), &Options{CutoffRadius: 0.3 * math.Sqrt(2*d)}))
			if err != nil {
				t.Fatal(err)
			}
			if !op.Found.Balls {
				t.Errorf("no balls: %+v", op.Found)
			}
		})
	}
}
