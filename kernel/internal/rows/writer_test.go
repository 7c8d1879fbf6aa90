package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/par"
)

// Rows come back as they were written, whatever slabs they went through, and pieces end
// where their entries or rows are enough.
func TestWriter(t *testing.T) {
	var m Memory
	if err := m.Begin(t.Context(), &Request{Memory: math.MaxInt64}, 0, 0, EntryBytes); err != nil {
		t.Fatal(err)
	}
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

// A writer that is expected to take much begins with a large slab, where there is room for all
// that is expected.
func TestFirstSlab(t *testing.T) {
	for _, c := range []struct {
		memory   int64
		expected float64 // bytes
		writers  int
		want     int // entries
	}{
		{math.MaxInt64, 0, 1, leastSlab + 1}, {math.MaxInt64, 1 << 16, 1, leastSlab + 1}, {math.MaxInt64, EntryBytes << 20, 1, 1 << 18},
		{math.MaxInt64, EntryBytes << 20, 4, 1 << 16}, {math.MaxInt64, math.Inf(1), 1, MostSlab},
		{EntryBytes << 20, EntryBytes << 20, 1, 1 << 18}, {EntryBytes<<20 - 1, EntryBytes << 20, 1, leastSlab + 1}, // scarce
	} {
		workers := par.New(c.writers)
		defer workers.Close()
		var m Memory
		if err := m.Begin(t.Context(), &Request{Memory: c.memory, Workers: workers}, 0, c.expected, EntryBytes); err != nil {
			t.Fatal(err)
		}
		w := NewWriter(&m, 0)
		if w.Grow(1); cap(w.slab.ind) != c.want || m.Taken() != int64(c.want)*EntryBytes {
			t.Errorf("%+v: %d entries", c, cap(w.slab.ind))
		}
	}
}
