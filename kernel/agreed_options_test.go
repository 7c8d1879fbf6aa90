package kernel

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/par"
)

// Ranks that differ in memory and level go by the least of each, and those that are not
// fixed by what rank 0 has measured.
func TestRanksAgreeOnOptions(t *testing.T) {
	t.Parallel()
	levels := simd.Levels()
	if err := cluster.Local(3, func(ranks *par.Ranks) error {
		r := ranks.Rank()
		given := &Options{
			Ranks: ranks, MaxMemory: []int64{3 << 20, 1 << 20, 2 << 20}[r],
			Kernels: simd.At(levels[max(len(levels)-1-r, 0)]),
		}
		if r == 1 {
			given.Calibration = &Calibration{Scalar: 77}
		}
		o, err := given.agreed(t.Context())
		if err != nil {
			return err
		}
		if o.MaxMemory != 1<<20 || o.Kernels.Level() != levels[max(len(levels)-3, 0)] {
			return fmt.Errorf("%d bytes at level %v", o.MaxMemory, o.Kernels.Level())
		}
		speed, err := speedOf(t.Context(), o, given.calibration())
		if err != nil {
			return err
		}
		all, bounds, err := exchange.GatherAll(t.Context(), ranks, []float64{speed.Scalar, speed.Vector, speed.Sparse})
		if err != nil {
			return err
		}
		if own := all[bounds[r]:bounds[r+1]]; !slices.Equal(own, all[:3]) || own[0] == 77 || own[0] <= 0 {
			return fmt.Errorf("speeds %v", all)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestRanksRefuseOtherWorkers(t *testing.T) {
	t.Parallel()
	p := pointtest.Make("uniform", 50, 2, 1)
	if err := cluster.Local(2, func(ranks *par.Ranks) error {
		workers := par.New(1 + ranks.Rank())
		defer workers.Close()
		_, err := Build(t.Context(), p, Sigma(1), &Options{Ranks: ranks, Workers: workers})
		if !errors.Is(err, ErrOption) {
			return fmt.Errorf("rank %d: %v", ranks.Rank(), err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// Ranks that may take memory meet elsewhere than those that ask for it.
func TestRanksRefuseOneReserve(t *testing.T) {
	t.Parallel()
	p := pointtest.Make("uniform", 50, 2, 1)
	if err := cluster.Local(3, func(ranks *par.Ranks) error {
		o := &Options{Ranks: ranks}
		if ranks.Rank() == 1 {
			o.Reserve = func(int64) bool { return true }
		}
		if _, err := Build(t.Context(), p, Sigma(1), o); !errors.Is(err, ErrOption) {
			return fmt.Errorf("rank %d: %v", ranks.Rank(), err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// Memory that one rank is refused, none takes; all have the error that it has.
func TestRanksAreRefusedTogether(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"poly", "grid", "dense"} {
		c := reserveCases()[name]
		if err := cluster.Local(3, func(ranks *par.Ranks) error {
			o := c.o
			o.Ranks, o.Calibration, o.MaxMemory = ranks, &Calibration{}, 1<<32
			for refused := range 4 {
				asked := 0
				o.Reserve = func(int64) bool { asked++; return ranks.Rank() != 1 || asked <= refused }
				_, err := Build(t.Context(), c.p, c.b, &o)
				told := uint8(0)
				if base.Denied(err) {
					told = 1
				} else if err != nil {
					return err
				}
				all, _, err := exchange.GatherAll(t.Context(), ranks, []uint8{told})
				if err != nil {
					return err
				}
				if slices.Max(all) != slices.Min(all) || refused == 0 && told == 0 {
					return fmt.Errorf("question %d: refused %v", refused, all)
				}
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The sample of distances has the same bins on every rank, and so all plan the same, in few
// dimensions and in many.
func TestRanksPlanTheSame(t *testing.T) {
	t.Parallel()
	for _, d := range []int{2, 30} {
		p := pointtest.Make("clustered", 900, d, 8)
		b := Sigma(pointtest.TypicalDistance(p, pointtest.Rand(1)) / 4)
		plan := func(ranks *par.Ranks) (*profile.Profile, string, error) {
			o := &Options{Ranks: ranks, Calibration: &Calibration{}, MaxMemory: 1 << 32}
			pts, err := Open(p, o)
			if err != nil {
				return nil, "", err
			}
			candidates, err := pts.Plan(t.Context(), b, o)
			said := ""
			for _, c := range candidates {
				said += fmt.Sprintln(c.Name, c.Seconds, c.Eta, c.Radius, c.MeanNeighbours, c.Degrees, c.Feasible)
			}
			return pts.sample, said, err
		}
		want, said, err := plan(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{2, 3, 20} {
			if err := cluster.Local(size, func(ranks *par.Ranks) error {
				got, also, err := plan(ranks)
				if err != nil {
					return err
				}
				if also != said {
					return fmt.Errorf("planned %s", also)
				}
				for bin, s := range want.Spreads {
					if got.Spreads[bin] == nil || *got.Spreads[bin] != *s {
						return fmt.Errorf("bin %d is spread another way", bin)
					}
				}
				if !slices.Equal(got.Used, want.Used) || !slices.EqualFunc(got.Rows, want.Rows, slices.Equal[[]profile.DistanceBin]) {
					return errors.New("other bins")
				}
				return nil
			}); err != nil {
				t.Errorf("%d dimensions, %d ranks: %v", d, size, err)
			}
		}
	}
}
