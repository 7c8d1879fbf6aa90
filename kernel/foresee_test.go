package kernel

import (
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
)

// The estimate of a list of pairs is near to the list where points are uniform.
func TestPairListIsForeseen(t *testing.T) {
	const n = 30_000
	for d := 1; d <= graph.CellDimensions; d++ {
		for _, neighbours := range []float64{2, 5, 20, 100, 500} {
			p := pointtest.Make("uniform", n, d, 1)
			b, radius, err := bandwidthForDegree(t.Context(), p, neighbours, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			op, err := as[*truncated.Pairs](openPairs(t.Context(), p, b, &Options{CutoffRadius: radius}))
			if err != nil {
				t.Fatal(err)
			}
			nnz := op.MeanNeighbours() * n
			got, want := truncated.PairListBytes(n, d, nnz, truncated.TestedPairs(n, d, nnz)), float64(op.List.Bytes())
			if got > want/0.7+n || got < want/2 { // up to a byte a point in addition to it
				t.Errorf("%d dimensions, %g neighbours: %.1f bytes a point are foreseen, the list has %.1f", d, neighbours, got/n, want/n)
			}
		}
	}
}

// A sample of distances refuses what has no hope before the points are sorted, and nothing
// that fits.
func TestForeseenWithinLimit(t *testing.T) {
	p := pointtest.Make("uniform", 30_000, 2, 1)
	for _, operator := range []string{"", "csr", "pairs"} {
		o := &Options{Operator: operator}
		pts, err := Open(p, o)
		if err != nil {
			t.Fatal(err)
		}
		b, radius, err := pts.BandwidthForDegree(t.Context(), 30, 0, o)
		if err != nil {
			t.Fatal(err)
		}
		o.CutoffRadius = radius
		op, err := pts.Build(t.Context(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		least, err := o.LeastBytes(p.Rows, p.Cols)
		if err != nil {
			t.Fatal(err)
		}
		stages := 0
		o.Progress = func(string, int, int) { stages++ }
		o.MaxMemory = least + 1000
		if _, err := pts.Build(t.Context(), b, o); !errors.Is(err, ErrMemory) || stages > 0 {
			t.Errorf("%q: with %d bytes: %v after %d reports", operator, o.MaxMemory, err, stages)
		}
		o.MaxMemory = op.Cost().PeakBytes * 5 / 4
		if again, err := pts.Build(t.Context(), b, o); err != nil || again.Name() != op.Name() {
			t.Errorf("%q: with %d bytes: %v", operator, o.MaxMemory, err)
		}
	}
}
