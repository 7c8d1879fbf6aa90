package kernel

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/par"
)

// Rows come back as they were written, whatever slabs they went through, and pieces
// end where the rows say.
func TestRowWriter(t *testing.T) {
	var m memory
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
	set := par.New(3)
	defer set.Close()
	for _, workers := range []*Workers{nil, set} {
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
