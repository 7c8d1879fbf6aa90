package privatemail

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/post"
)

// stressCalls are calls that differ in their memory. Each returns its points, nil for
// none.
func stressCalls(x blas32.General, r *release.Release) []func(context.Context, *Engine) ([]float64, error) {
	_, wide := plane(x.Rows)
	return []func(context.Context, *Engine) ([]float64, error){
		func(ctx context.Context, e *Engine) ([]float64, error) {
			out, err := e.Embed(ctx, x, nil, wide)
			if err != nil {
				return nil, err
			}
			return out.Points.RawMatrix().Data, nil
		},
		func(ctx context.Context, e *Engine) ([]float64, error) {
			out, err := e.Converge(ctx, x, nil, &ConvergeSettings{Graph: Graph{MeanNeighbours: 10}})
			if err != nil {
				return nil, err
			}
			return out.Points.RawMatrix().Data, nil
		},
		func(ctx context.Context, e *Engine) ([]float64, error) {
			out, err := e.Map(ctx, x, &MapSettings{Graph: Graph{Neighbours: 5}})
			if err != nil {
				return nil, err
			}
			return out.Points.RawMatrix().Data, nil
		},
		func(ctx context.Context, e *Engine) ([]float64, error) {
			out, err := e.Continue(ctx, r, nil, &post.Settings{MeanNeighbours: 10})
			if err != nil {
				return nil, err
			}
			return out.Points.RawMatrix().Data, nil
		},
		func(ctx context.Context, e *Engine) ([]float64, error) {
			return nil, e.Reserve(ctx, 100_000, func(ctx context.Context) error {
				_, err := e.NeighbourGraph(ctx, x, &wide.Graph)
				return err
			})
		},
		func(ctx context.Context, e *Engine) ([]float64, error) {
			return nil, e.Lend().Do(ctx, 50, par.Func(func(_, _ int) {}))
		},
	}
}

// Many callers of all kinds, with memory for about one of them, contexts that end at any
// time and a Close in the middle: every call ends, with the result of a single caller or
// with the error of its context or of Close, and all memory comes back.
func TestManyCallersOfAllKinds(t *testing.T) {
	x, _ := plane(400)
	s, _ := paid(t)
	rows, labels := classes(t, 60, 3)
	r, err := engine(t).Privatize(t.Context(), rows, labels, s)
	if err != nil {
		t.Fatal(err)
	}
	do := stressCalls(x, r)
	alone := make([][]float64, len(do))
	for i, call := range do {
		if alone[i], err = call(t.Context(), fixedEngine(t, 1<<30)); err != nil {
			t.Fatal(err)
		}
	}
	for _, closes := range []bool{false, true} {
		e := fixedEngine(t, 1_600_000, WithProgress(func(Progress) {}))
		var all sync.WaitGroup
		for caller := range 32 {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(caller), 1))
				for range 6 {
					i := rng.IntN(len(do))
					ctx, cancel := context.WithCancel(t.Context())
					if rng.IntN(3) == 0 {
						time.AfterFunc(time.Duration(rng.IntN(20_000))*time.Microsecond, cancel)
					}
					out, err := do[i](ctx, e)
					switch {
					case err == nil && !slices.Equal(out, alone[i]):
						t.Errorf("call %d: other bits than a caller alone gets", i)
					case err != nil && !errors.Is(err, context.Canceled) && !(closes && errors.Is(err, ErrClosed)):
						t.Errorf("call %d: %v", i, err)
					}
					cancel()
				}
			})
		}
		ended := make(chan struct{})
		go func() {
			if closes {
				time.Sleep(50 * time.Millisecond)
				e.Close()
			}
			all.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			panic(fmt.Sprintf("calls hang, closes %v", closes)) // with the stacks of all
		}
		if closes {
			continue
		}
		if err := e.Reserve(t.Context(), 1_600_000, func(context.Context) error { return nil }); err != nil {
			t.Errorf("memory is missing afterwards: %v", err)
		}
	}
}
