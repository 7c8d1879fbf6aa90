package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// truncatedOf returns what csr and pairs share of an operator; nil of others.
func truncatedOf(op Operator) *truncated.Truncated {
	switch op := roomOf(op).(type) {
	case *truncated.CSR:
		return &op.Truncated
	case *truncated.Pairs:
		return &op.Truncated
	}
	return nil
}

// plainHalos returns, for each pair of ranks, the distinct points of the second that weights
// of the first refer to, and which chunks of op refer to any. The reader has the rows of all
// ranks.
func plainHalos(op *truncated.Truncated, reader graph.RowReader, bounds []int) (needs [][][]uint32, boundary map[int]bool) {
	owner := func(g int) int {
		for r := range bounds[1:] {
			if g < bounds[r+1] {
				return r
			}
		}
		return -1
	}
	size := len(bounds) - 1
	needs, boundary = make([][][]uint32, size), make(map[int]bool)
	for r := range needs {
		needs[r] = make([][]uint32, size)
	}
	for chunk := range op.Rows.Chunks() {
		lo, hi := op.Rows.Chunk(chunk)
		for g := lo; g < hi; g++ {
			ind, _ := reader.Weights(g)
			for _, j := range ind {
				if r, s := owner(g), owner(int(j)); r != s {
					needs[r][s] = append(needs[r][s], j)
					boundary[chunk] = true
				}
			}
		}
	}
	for _, of := range needs {
		for s := range of {
			slices.Sort(of[s])
			of[s] = slices.Compact(of[s])
		}
	}
	return needs, boundary
}

func TestHalosAgainstPlainLists(t *testing.T) {
	t.Parallel()
	for _, c := range rankCases() {
		if c.operator != "csr" && c.operator != "pairs" {
			continue
		}
		if err := cluster.Local(3, func(ranks *par.Ranks) error {
			built, err := c.build(t.Context(), ranks)
			if err != nil {
				return err
			}
			return checkHalo(t.Context(), truncatedOf(built), ranks)
		}); err != nil {
			t.Errorf("%s %s: %v", c.operator, c.name, err)
		}
	}
}

// checkHalo compares the halo of a rank with plain lists.
func checkHalo(ctx context.Context, op *truncated.Truncated, ranks *par.Ranks) error {
	h, rank, size := &op.Halo, ranks.Rank(), ranks.Size()
	for r, first := range op.RankBounds() {
		if op.First(h.Bounds[r]) != first {
			return fmt.Errorf("rank %d begins with row %d, and with point %d", r, first, h.Bounds[r])
		}
	}
	whole, err := op.WholeRows(ctx)
	if err != nil {
		return err
	}
	needs, boundary := plainHalos(op, whole.Rows.Reader(1), h.Bounds)
	total, received := 0, 0
	for r, of := range needs {
		for _, list := range of {
			total += len(list)
			if r == rank {
				received += len(list)
			}
		}
	}
	if h.Received != received || h.Used != (2*total < (size-1)*op.Rows.Rows()) {
		return fmt.Errorf("%d ghosts, used: %v; want %d of %d", h.Received, h.Used, received, total)
	}
	if !h.Used {
		return nil
	}
	for s := range size {
		if !slices.Equal(h.Ghosts[s], needs[rank][s]) || !slices.Equal(h.Sent[s], needs[s][rank]) {
			return fmt.Errorf("%d rows from rank %d and %d to it, want %d and %d", len(h.Ghosts[s]), s, len(h.Sent[s]), len(needs[rank][s]), len(needs[s][rank]))
		}
	}
	var early, late []int
	for from, to := op.OwnChunks(); from < to; from++ {
		if boundary[from] {
			late = append(late, from)
		} else {
			early = append(early, from)
		}
	}
	if !slices.Equal(h.Interior, early) || !slices.Equal(h.Boundary, late) {
		return fmt.Errorf("chunks %v and %v, want %v and %v", h.Interior, h.Boundary, early, late)
	}
	return nil
}

// A step receives what TrafficOf says, and sums.
func TestTraffic(t *testing.T) {
	t.Parallel()
	const k, size = 3, 3
	kinds := make(map[bool]bool)
	for _, c := range rankCases() {
		n := c.points.Rows
		alone, err := c.build(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := graphstats.TrafficOf(alone, k); got != (graphstats.Traffic{}) {
			t.Errorf("%s %s: %+v of one process", c.operator, c.name, got)
		}
		if op := truncatedOf(alone); op != nil && c.halo {
			kinds[op.Group != nil] = true
		}
		if err := cluster.Local(size, func(ranks *par.Ranks) error {
			op, err := c.build(t.Context(), ranks)
			if err != nil {
				return err
			}
			x, next := pointtest.RandomBlock(pointtest.Rand(1), n, k), pointtest.Zeros32(n, k)
			var st Stats
			if err := st.Gather(x, nil); err != nil {
				return err
			}
			gathered, exchanged := ranks.Traffic()
			if err := op.Step(t.Context(), next, x, new(Step), &st); err != nil {
				return err
			}
			gatheredNow, exchangedNow := ranks.Traffic()
			gathered, exchanged = gatheredNow-gathered, exchangedNow-exchanged
			want, sums := graphstats.TrafficOf(op, k), int64(0)
			if c.operator == "poly" || c.operator == "grid" {
				if want != (graphstats.Traffic{}) { // see TestWideStepsLeaveTheIterateWithItsRanks
					return fmt.Errorf("%+v, want none", want)
				}
				return nil
			}
			for chunk := range st.own.Partials.Chunk {
				sums += 8 * int64(st.own.Partials.Chunk[chunk].Size())
			}
			if want.Overlapped && (exchanged != want.Halo || gathered > sums) {
				return fmt.Errorf("%d exchanged and %d gathered, want %+v", exchanged, gathered, want)
			}
			if !want.Overlapped && (exchanged != 0 || gathered < want.Gather || gathered > want.Gather+sums) {
				return fmt.Errorf("%d exchanged and %d gathered, want %+v and at most %d", exchanged, gathered, want, sums)
			}
			return nil
		}); err != nil {
			t.Errorf("%s %s: %v", c.operator, c.name, err)
		}
	}
	if !kinds[true] || !kinds[false] {
		t.Error("no halo with equal points, or none without")
	}
}

// The cases have what they say: rows of faint degree, isolated ones, groups of equal points
// and as many chunks as halos need.
func TestRankCases(t *testing.T) {
	t.Parallel()
	faint, equal := false, false
	for _, c := range rankCases() {
		built, err := c.build(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		op := truncatedOf(built)
		if op == nil {
			continue
		}
		faint = faint || len(op.Faint) > 0 && op.Cert.Isolated > 0
		equal = equal || op.Group != nil
		if chunks := op.Rows.Chunks(); c.points.Rows > 100 && chunks < 3 {
			t.Errorf("%s %s: %d chunks", c.operator, c.name, chunks)
		}
	}
	if !faint || !equal {
		t.Errorf("faint rows: %v, equal points: %v", faint, equal)
	}
}

// Chunks that a search has dealt out, some ranks without any, give the same bits.
func TestDealtChunks(t *testing.T) {
	t.Parallel()
	for _, c := range rankCases()[:2] { // without and with equal points
		c.options.Isolated = Repair // every rank has all weights, and so any chunk
		alone, err := c.build(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := runNumbers(t.Context(), alone, []int{2})
		if err != nil {
			t.Fatal(err)
		}
		all := truncatedOf(alone).Rows.Chunks()
		for _, deal := range [][]int{{0, 1, all}, {0, 0, all - 1, all}, {0, all, all, all}} {
			if err := cluster.Local(len(deal)-1, func(ranks *par.Ranks) error {
				built, err := c.build(t.Context(), ranks)
				if err != nil {
					return err
				}
				op := truncatedOf(built)
				op.RankChunks = deal
				if err := op.PlanHalo(t.Context()); err != nil {
					return err
				}
				if err := checkHalo(t.Context(), op, ranks); err != nil {
					return err
				}
				if got, err := runNumbers(t.Context(), built, []int{2}); err != nil || !slices.Equal(got, want) {
					return fmt.Errorf("other numbers than one process: %w", err)
				}
				return nil
			}); err != nil {
				t.Errorf("%s %s, %v: %v", c.operator, c.name, deal, err)
			}
		}
	}
}

func TestPlanHaloIsCancelled(t *testing.T) {
	t.Parallel()
	c := rankCases()[0]
	if err := cluster.Local(2, func(ranks *par.Ranks) error {
		built, err := c.build(t.Context(), ranks)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return truncatedOf(built).PlanHalo(ctx)
	}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The columns of a chunk are in its span, by which a rank knows chunks without ghosts, also
// where a sample has looked at other clusters before.
func TestSpansHaveAllColumns(t *testing.T) {
	crowd := pointtest.Make("uniform", 9000, 2, 5)
	for i := range 4500 { // more candidates than a batch has
		crowd.Data[2*i], crowd.Data[2*i+1] = crowd.Data[2*i]/50, crowd.Data[2*i+1]/50
	}
	for name, p := range map[string]blas32.General{"plane": pointtest.Make("uniform", 20000, 2, 1), "space": pointtest.Make("uniform", 20000, 3, 2), "crowd": crowd} {
		if err := cluster.Local(3, func(ranks *par.Ranks) error {
			op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(0.02), &Options{CutoffRadius: 0.05, Ranks: ranks, Reserve: func(int64) bool { return true }}))
			if err != nil {
				return err
			}
			from, to := op.OwnChunks()
			if len(op.Spans) != to-from {
				return fmt.Errorf("%d spans of %d chunks", len(op.Spans), to-from)
			}
			reader := op.Rows.Reader(1)
			for piece, span := range op.Spans {
				lo, hi := op.Rows.Chunk(from + piece)
				for i := lo; i < hi; i++ {
					if ind, _ := reader.Weights(i); len(ind) > 0 && (ind[0] < span.Least || ind[len(ind)-1] > span.Most) {
						return fmt.Errorf("row %d has columns from %d to %d, its span is %v", i, ind[0], ind[len(ind)-1], span)
					}
				}
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
