package kernel

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// The memory of a graph is bounded while it grows; one that has no hope is refused
// before it does.
func TestSearchWithinLimit(t *testing.T) {
	p := pointtest.Make("uniform", 20_000, 2, 6)
	b, radius, err := bandwidthForDegree(t.Context(), p, 60, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	workers := par.New(3)
	defer workers.Close()
	for _, workers := range []*par.Workers{nil, workers} {
		op, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		peak, nnz := op.Cost().PeakBytes, op.Cost().NNZ
		if over := peak - graph.SearchBytes(p.Rows, 2, &base.Options{Workers: workers}) - rows.EntryBytes*nnz; over < 0 || over > 9*nnz {
			t.Errorf("%d bytes for %d weights", peak, nnz)
		}
		if _, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Workers: workers, MaxMemory: 2 * peak}); err != nil {
			t.Errorf("with twice what it took: %v", err)
		}
		for _, share := range []int64{1, 2, 20} {
			limit := graph.SearchBytes(p.Rows, 2, &base.Options{Workers: workers}) + rows.EntryBytes*nnz/share - 1
			_, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Workers: workers, MaxMemory: limit})
			var memory *MemoryError
			if !errors.As(err, &memory) || memory.Limit != limit || memory.Need <= limit || memory.Need > 3*peak {
				t.Errorf("with %d of %d bytes: %v", limit, peak, err)
			}
		}
	}
}

// Memory that runs out with the last points of a piece of work is an error like any
// other.
func TestMemoryEndsWithAPiece(t *testing.T) {
	p := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{0, 0.6, 1.1}}
	for limit := graph.SearchBytes(3, 1, &base.Options{}); ; limit += rows.EntryBytes {
		op, err := openCSR(t.Context(), p, Sigma(1), &Options{CutoffRadius: 1, MaxMemory: limit})
		if err == nil {
			if op.Cost().PeakBytes > limit {
				t.Errorf("%d bytes held, limit %d", op.Cost().PeakBytes, limit)
			}
			return
		}
		var memory *MemoryError
		if !errors.As(err, &memory) {
			t.Fatalf("%d bytes: %v", limit, err)
		}
	}
}

// A crowd among many that have no neighbours is not refused for what there would be
// if all were crowds, wherever it is.
func TestLimitForACrowd(t *testing.T) {
	const n, crowd, stride = 20_000, 500, 300
	for begin := 0; begin < stride; begin += crowd / cells.ClusterPoints {
		p := blas32.General{Rows: n, Cols: 1, Stride: 1, Data: pointtest.Fill(n, func(i int) float64 {
			if at := i - begin; at < 0 || at >= crowd {
				return 10 * float64(at)
			}
			return float64(i-begin) / crowd
		})}
		need := rows.EntryBytes * int64(n+crowd*(crowd-1))
		_, err := openCSR(t.Context(), p, Sigma(1), &Options{CutoffRadius: 1, MaxMemory: graph.SearchBytes(n, 1, &base.Options{}) + 3*need})
		if err != nil {
			t.Errorf("from %d on: %v", begin, err)
		}
	}
}

// What the cost says is enough, for any number of writers, and more is no worse.
func TestLimitOfTheCost(t *testing.T) {
	p := pointtest.Make("uniform", 6000, 2, 6)
	b, radius, err := bandwidthForDegree(t.Context(), p, 30, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	full, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: radius})
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 3} {
		workers := par.New(count)
		defer workers.Close()
		for _, layout := range []sparse.Layout{sparse.Plain, sparse.Compact} {
			o := Options{CutoffRadius: radius, Workers: workers, Layout: layout}
			cost := truncated.CSRCost(p.Rows, p.Cols, float64(full.Cost().NNZ), &base.Options{CutoffRadius: radius, Workers: workers, Layout: layout}).PeakBytes
			for o.MaxMemory = cost; o.MaxMemory < 2*cost; o.MaxMemory += cost / 16 {
				op, err := openCSR(t.Context(), p, b, &o)
				if err != nil {
					t.Errorf("%d workers, %v, %d bytes: %v", count, layout, o.MaxMemory, err)
				} else if op.Cost().PeakBytes > o.MaxMemory {
					t.Errorf("%d workers, %v: %d bytes held, limit %d", count, layout, op.Cost().PeakBytes, o.MaxMemory)
				}
			}
		}
	}
}

// A search by codes counts what any graph of these points counts, scratch memory of
// distances included, though it takes less where rows are long and workers many.
func TestSearchCountsAsThePlanDoes(t *testing.T) {
	workers := par.New(16)
	defer workers.Close()
	p := pointtest.Make("uniform", 100, 2048, 1)
	o := &Options{CutoffRadius: 2, Workers: workers}
	held := graph.SearchBytes(100, 2048, &base.Options{CutoffRadius: 2, Workers: workers})
	if own := codes.Bytes(100, 2048, 16); own >= held {
		t.Fatalf("the search takes %d bytes, every pair no more than %d", own, held)
	}
	o.MaxMemory = held - 1
	_, err := openCSR(t.Context(), p, Sigma(1), o)
	if m, ok := errors.AsType[*MemoryError](err); !ok || m.Need != held {
		t.Errorf("%v, want a need of %d bytes", err, held)
	}
}
