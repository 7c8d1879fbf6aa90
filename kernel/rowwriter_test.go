package kernel

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Rows come back as they were written, whatever slabs they went through, and pieces
// end where the rows say.
func TestRowWriter(t *testing.T) {
	m := memory{entry: entryBytes, writers: 1}
	m.left.Store(math.MaxInt64)
	w := &rowWriter{memory: &m}
	rng := rngOf(4)
	var ind, want []uint32
	var lengths []int
	for written := 0; written < 3*leastSlab+2*pieceEntries; {
		counts := make([]uint32, 1+rng.IntN(5))
		total := 0
		for i := range counts {
			counts[i] = uint32(rng.IntN(3000))
			total += int(counts[i])
		}
		columns, values := w.room(total)
		if len(columns) != total || len(values) != total {
			t.Fatalf("room for %d and %d of %d entries", len(columns), len(values), total)
		}
		for e := range columns {
			columns[e], values[e] = uint32(written+e), float32(e)
			want = append(want, uint32(written+e))
		}
		written += total
		w.rows(counts)
		if full := len(w.ind)-w.begin >= pieceEntries; full != w.full() {
			t.Fatalf("a piece of %d entries is full: %v", len(w.ind)-w.begin, w.full())
		}
		if w.full() {
			rows := w.cut()
			ind, lengths = append(ind, rows.Ind...), append(lengths, len(rows.Ind))
		}
	}
	ind = append(ind, w.cut().Ind...)
	if !slices.Equal(ind, want) || len(lengths) < 2 {
		t.Errorf("%d entries in %d pieces, want %d", len(ind), len(lengths), len(want))
	}
	for range 2 * pieceRows {
		w.rows([]uint32{0})
		if w.full() {
			break
		}
	}
	if rows := w.cut(); len(rows.Ptr) != pieceRows+1 || len(rows.Ind) != 0 {
		t.Errorf("a piece of %d empty rows", len(rows.Ptr)-1)
	}
}

// The memory of a graph is bounded while it grows; one that has no hope is refused
// before it does.
func TestSearchWithinBudget(t *testing.T) {
	p := makePoints("uniform", 20_000, 2, 6)
	b, radius, err := BandwidthForDegree(t.Context(), p, 60, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	workers := par.New(3)
	defer workers.Close()
	for _, workers := range []*par.Workers{nil, workers} {
		op, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		peak, nnz := op.Cost().PeakBytes, op.Cost().NNZ
		if over := peak - searchBytes(p.Rows, 2, &Options{Workers: workers}) - entryBytes*nnz; over < 0 || over > 9*nnz {
			t.Errorf("%d bytes for %d weights", peak, nnz)
		}
		if _, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Workers: workers, BudgetBytes: 2 * peak}); err != nil {
			t.Errorf("with twice what it took: %v", err)
		}
		for _, share := range []int64{1, 2, 20} {
			budget := searchBytes(p.Rows, 2, &Options{Workers: workers}) + entryBytes*nnz/share - 1
			_, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Workers: workers, BudgetBytes: budget})
			var memory *MemoryError
			if !errors.As(err, &memory) || memory.Budget != budget || memory.Need <= budget || memory.Need > 3*peak {
				t.Errorf("with %d of %d bytes: %v", budget, peak, err)
			}
		}
	}
}

// Memory that runs out with the last points of a piece of work is an error like any
// other.
func TestMemoryEndsWithAPiece(t *testing.T) {
	p := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{0, 0.6, 1.1}}
	for budget := searchBytes(3, 1, &Options{}); ; budget += entryBytes {
		op, err := NewCSR(t.Context(), p, Sigma(1), &Options{CutoffRadius: 1, BudgetBytes: budget})
		if err == nil {
			if op.Cost().PeakBytes > budget {
				t.Errorf("%d bytes held, budget %d", op.Cost().PeakBytes, budget)
			}
			return
		}
		var memory *MemoryError
		if !errors.As(err, &memory) {
			t.Fatalf("%d bytes: %v", budget, err)
		}
	}
}

// A crowd among many that have no neighbours is not refused for what there would be
// if all were crowds, wherever it is.
func TestBudgetForACrowd(t *testing.T) {
	const n, crowd, stride = 20_000, 500, 300
	for begin := 0; begin < stride; begin += crowd / cells.ClusterPoints {
		p := blas32.General{Rows: n, Cols: 1, Stride: 1, Data: fill(n, func(i int) float64 {
			if at := i - begin; at < 0 || at >= crowd {
				return 10 * float64(at)
			}
			return float64(i-begin) / crowd
		})}
		need := entryBytes * int64(n+crowd*(crowd-1))
		_, err := NewCSR(t.Context(), p, Sigma(1), &Options{CutoffRadius: 1, BudgetBytes: searchBytes(n, 1, &Options{}) + 3*need})
		if err != nil {
			t.Errorf("from %d on: %v", begin, err)
		}
	}
}

// What the cost says is enough, for any number of writers, and more is no worse.
func TestBudgetOfTheCost(t *testing.T) {
	p := makePoints("uniform", 6000, 2, 6)
	b, radius, err := BandwidthForDegree(t.Context(), p, 30, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	full, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius})
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 3} {
		workers := par.New(count)
		defer workers.Close()
		for _, layout := range []sparse.Layout{sparse.Plain, sparse.Compact} {
			o := Options{CutoffRadius: radius, Workers: workers, Layout: layout}
			cost := csrCost(p.Rows, p.Cols, float64(full.Cost().NNZ), &o).PeakBytes
			for o.BudgetBytes = cost; o.BudgetBytes < 2*cost; o.BudgetBytes += cost / 16 {
				op, err := NewCSR(t.Context(), p, b, &o)
				if err != nil {
					t.Errorf("%d workers, %v, %d bytes: %v", count, layout, o.BudgetBytes, err)
				} else if op.Cost().PeakBytes > o.BudgetBytes {
					t.Errorf("%d workers, %v: %d bytes held, budget %d", count, layout, op.Cost().PeakBytes, o.BudgetBytes)
				}
			}
		}
	}
}

// Writers that ask for little get it beside those that ask for too much.
func TestMemoryIsNeverOverdrawn(t *testing.T) {
	m := memory{entry: entryBytes, writers: 2}
	const entries = 1 << 16
	m.left.Store(entries * entryBytes)
	workers := par.New(2)
	defer workers.Close()
	var refused atomic.Int64
	err := workers.Do(t.Context(), 2*entries, par.Func(func(_, piece int) {
		if piece%2 == 0 && m.take(2*entries) || piece%2 == 1 && !m.take(1) {
			refused.Add(1)
		}
	}))
	if err != nil || refused.Load() != 0 || m.left.Load() != 0 || m.taken.Load() != entries*entryBytes {
		t.Errorf("%d wrong answers, %d left, %v", refused.Load(), m.left.Load(), err)
	}
}

// The memory of a closed graph is that of the next, whatever was left in it.
func TestSlabsAreUsedAgain(t *testing.T) {
	p := makePoints("uniform", 40_000, 2, 11)
	b, radius, err := BandwidthForDegree(t.Context(), p, 250, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := makePoints("uniform", p.Rows, 2, 12)
	var want blas32.General
	again := false // some weights are where others have been
	for round := 0; round < 2 || round < 20 && !again; round++ {
		op, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius})
		if err != nil {
			t.Fatal(err)
		}
		if len(op.slabs) == 0 {
			t.Fatalf("%d weights in no slab of %d", op.weights.NNZ(), mostSlab)
		}
		got := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: make([]float32, len(x.Data))}
		if err := op.Apply(t.Context(), got, x); err != nil {
			t.Fatal(err)
		}
		if want.Data == nil {
			want = got
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Fatal("another product after the graph was built anew")
		}
		for _, s := range op.slabs {
			for e := range s.ind {
				again = again || s.val[e] != s.val[e] // left below, where no weight came
				s.ind[e], s.val[e] = math.MaxUint32, float32(math.NaN())
			}
		}
		if err := op.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !again {
		t.Error("no graph was stored where another had been")
	}
}

// Weights that were repaired are elsewhere: nobody holds the memory of the others.
func TestRepairedGraphsHoldNoSlabs(t *testing.T) {
	p := makePoints("uniform", 40_000, 2, 11)
	b, radius, err := BandwidthForDegree(t.Context(), p, 250, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c := range p.Cols {
		p.Data[c] = 1 + 2*float32(radius) // away from all others
	}
	op, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Isolated: Repair})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if op.Certificate().Isolated > 0 || len(op.slabs) > 0 {
		t.Errorf("%d isolated rows, %d slabs", op.Certificate().Isolated, len(op.slabs))
	}
}

// What a compact layout does not keep, or keeps beyond the search, is nobody else's.
func TestCompactGraphsKeepTheirMemory(t *testing.T) {
	p := makePoints("uniform", 40_000, 2, 11)
	b, radius, err := BandwidthForDegree(t.Context(), p, 250, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	op, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Layout: sparse.Compact})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if len(op.slabs) > 0 {
		t.Errorf("%d slabs of a compact graph to use again", len(op.slabs))
	}
}
