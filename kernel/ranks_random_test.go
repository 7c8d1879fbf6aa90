package kernel

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Whatever the points and options are, every rank has the numbers of one process, or its error.
func TestRandomOperatorsOfRanks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := pointtest.Draw(rt, 1200, []int{1, 2, 3, 5, 9, 14})
		scale := pointtest.TypicalDistance(p, pointtest.Rand(3)) * rapid.Float64Range(0.02, 2).Draw(rt, "scale")
		o := Options{
			Operator: rapid.SampledFrom([]string{"", "csr", "csr", "pairs", "dense", "poly", "grid"}).Draw(rt, "operator"),
			Isolated: rapid.SampledFrom([]IsolatedPolicy{Keep, Repair, Fail}).Draw(rt, "isolated"),
			Layout:   rapid.SampledFrom([]sparse.Layout{sparse.Plain, sparse.Compact, sparse.Compact16}).Draw(rt, "layout"),
		}
		switch rapid.IntRange(0, 3).Draw(rt, "graph") {
		case 0:
			o.CutoffRadius = scale
		case 1:
			o.Neighbours, o.SelfTuned = rapid.IntRange(1, 9).Draw(rt, "neighbours"), rapid.Bool().Draw(rt, "tuned")
		case 2:
			o.Tolerance = 0.05
		}
		outcome := func(ranks *par.Ranks) (numbers, string) {
			o := o
			o.Ranks = ranks
			op, err := Build(t.Context(), p, Sigma(scale/3), &o)
			if err != nil {
				return nil, err.Error()
			}
			all, err := runNumbers(t.Context(), op, []int{1, 2})
			if err != nil {
				return nil, err.Error()
			}
			return all, op.Name()
		}
		want, word := outcome(nil)
		size := rapid.IntRange(2, 6).Draw(rt, "ranks")
		if err := cluster.Local(size, func(ranks *par.Ranks) error {
			if got, text := outcome(ranks); !slices.Equal(got, want) || text != word {
				return fmt.Errorf("%d numbers, %s; of one process %d, %s", len(got), text, len(want), word)
			}
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
	})
}
