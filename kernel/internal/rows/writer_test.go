package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed-64e14a55/privatemail/par"
)

// Rows come back as they were written, whatever slabs they went through, and pieces end
// where their entries or rows are enough.
func TestWriter(t *testing.T) {
	var m Memory
	m.Set(math.MaxInt64, EntryBytes, 1)
	w := NewWriter(&m, 0)
	rng := rand.New(rand.NewPCG(4, 1))
	var ind, want []uint32
	var lengths []int
	for written := 0; written < 3*leastSlab+2*PieceEntries; {
		counts := make([]uint32, 1+rng.IntN(5))
		total := 0
		for i := range counts {
			counts[i] = uint32(rng.IntN(3000))
			total += int(counts[i])
		}
		columns, values := w.Grow(total)
		if len(columns) != total || len(values) != total {
			t.Fatalf("memory for %d and %d of %d entries", len(columns), len(values), total)
		}
		for e := range columns {
			columns[e], values[e] = uint32(written+e), float32(e)
			want = append(want, uint32(written+e))
		}
		written += total
		w.End(counts)
		if full := len(w.slab.ind)-w.begin >= PieceEntries; full != w.Full() {
			t.Fatalf("a piece of %d entries is full: %v", len(w.slab.ind)-w.begin, w.Full())
		}
		if w.Full() {
			rows := w.Cut()
			ind, lengths = append(ind, rows.Ind...), append(lengths, len(rows.Ind))
		}
	}
	ind = append(ind, w.Cut().Ind...)
	if !slices.Equal(ind, want) || len(lengths) < 2 {
		t.Errorf("%d entries in %d pieces, want %d", len(ind), len(lengths), len(want))
	}
	for range 2 * PieceRows {
		w.End([]uint32{0})
		if w.Full() {
			break
		}
	}
	if rows := w.Cut(); len(rows.Ptr) != PieceRows+1 || len(rows.Ind) != 0 {
		t.Errorf("a piece of %d empty rows", len(rows.Ptr)-1)
	}
}

// Writers that ask for little get it while other writers ask for too much.
func TestMemoryIsNeverOverdrawn(t *testing.T) {
	var m Memory
	const entries = 1 << 16
	m.Set(entries*EntryBytes, EntryBytes, 2)
	workers := par.New(2)
	defer workers.Close()
	var refused atomic.Int64
	err := workers.Do(t.Context(), 2*entries, par.Func(func(_, piece int) {
		if piece%2 == 0 && m.Take(2*entries) || piece%2 == 1 && !m.Take(1) {
			refused.Add(1)
		}
	}))
	if err != nil || refused.Load() != 0 || m.left.Load() != 0 || m.taken.Load() != entries*EntryBytes {
		t.Errorf("%d wrong answers, %d left, %v", refused.Load(), m.left.Load(), err)
	}
}
