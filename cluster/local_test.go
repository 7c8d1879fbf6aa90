package cluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

func TestLocalGather(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		err := cluster.Local(size, func(r *par.Ranks) error {
			for range 20 {
				data := make([]float64, 11)
				lo, hi := r.Part(len(data))
				for i := lo; i < hi; i++ {
					data[i] = float64(i) + 0.5
				}
				if err := exchange.Gather(t.Context(), r, data, r.Bounds(len(data))); err != nil {
					return err
				}
				for i, v := range data {
					if v != float64(i)+0.5 {
						t.Errorf("rank %d of %d: %v", r.Rank(), size, data)
					}
				}
				own := make([]uint32, r.Rank())
				for i := range own {
					own[i] = uint32(r.Rank())
				}
				all, bounds, err := exchange.GatherAll(t.Context(), r, own)
				if err != nil {
					return err
				}
				if len(all) != size*(size-1)/2 || len(bounds) != size+1 || !slices.IsSorted(all) {
					t.Errorf("rank %d of %d: %v, %v", r.Rank(), size, all, bounds)
				}
				two, err := exchange.GatherEqual(t.Context(), r, []int{r.Rank(), -r.Rank()})
				if err != nil {
					return err
				}
				if len(two) != 2*size {
					t.Errorf("rank %d of %d: %v", r.Rank(), size, two)
				}
				for i, v := range two {
					if v != []int{i / 2, -(i / 2)}[i%2] {
						t.Errorf("rank %d of %d: %v", r.Rank(), size, two)
					}
				}
				for _, who := range []int{-1, 0, size - 1} { // says yes
					yes, err := exchange.Any(t.Context(), r, r.Rank() == who)
					if err != nil {
						return err
					}
					if yes != (who >= 0) {
						t.Errorf("rank %d of %d: rank %d has said yes, the answer is %v", r.Rank(), size, who, yes)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestLocalExchange(t *testing.T) {
	const size = 4
	err := cluster.Local(size, func(r *par.Ranks) error {
		out, in := make([][]int32, size), make([][]int32, size)
		for s := range size {
			if s == r.Rank() {
				continue
			}
			for range r.Rank() + 2*s {
				out[s] = append(out[s], int32(10*r.Rank()+s))
			}
			in[s] = make([]int32, s+2*r.Rank())
		}
		wait, err := exchange.Begin(t.Context(), r, out, in)
		if err != nil {
			return err
		}
		if err := wait(t.Context()); err != nil {
			return err
		}
		for s, got := range in {
			for _, v := range got {
				if v != int32(10*s+r.Rank()) {
					t.Errorf("rank %d got %d from rank %d", r.Rank(), v, s)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A rank that fails, panics or ends its context makes the others fail too.
func TestLocalFails(t *testing.T) {
	own := errors.New("own")
	err := cluster.Local(3, func(r *par.Ranks) error {
		if r.Rank() == 1 {
			return own
		}
		return exchange.Gather(t.Context(), r, make([]int32, 3), r.Bounds(3))
	})
	if !errors.Is(err, own) {
		t.Error(err)
	}
	var caught *par.PanicError
	err = cluster.Local(2, func(r *par.Ranks) error {
		if r.Rank() == 1 {
			panic("this")
		}
		return exchange.Gather(t.Context(), r, make([]int32, 2), r.Bounds(2))
	})
	if !errors.As(err, &caught) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = cluster.Local(2, func(r *par.Ranks) error {
		if r.Rank() == 1 {
			<-ctx.Done()
			return nil
		}
		return exchange.Gather(ctx, r, make([]int32, 2), r.Bounds(2))
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Ranks must gather with the same bounds, or they would get different data.
func TestLocalGatherRefusesOtherBounds(t *testing.T) {
	err := cluster.Local(2, func(r *par.Ranks) error {
		return exchange.Gather(t.Context(), r, make([]int32, 3), []int{0, 1 + r.Rank(), 3})
	})
	if err == nil {
		t.Error("gathered between different bounds")
	}
}
