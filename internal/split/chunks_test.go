package split

import (
	"slices"
	"testing"
)

func TestChunks(t *testing.T) {
	for _, c := range []struct {
		name string
		ptr  []uint64
		want []int
	}{
		{"no rows", []uint64{0}, []int{0}},
		{"empty rows", make([]uint64, ChunkRows*2+2), []int{0, ChunkRows, 2 * ChunkRows, 2*ChunkRows + 1}},
		{"one long row", []uint64{0, 10, 10 + 5*ChunkEntries, 12 + 5*ChunkEntries}, []int{0, 1, 2, 3}},
		{"exactly full", []uint64{0, ChunkEntries, 2 * ChunkEntries}, []int{0, 1, 2}},
		// More than 2^32 entries: this tests the arithmetic, and takes no memory.
		{"64 bits", []uint64{0, 1 << 33, 1<<33 + 1, 1<<33 + 2, 1 << 40}, []int{0, 1, 3, 4}},
	} {
		if got := Chunks(c.ptr); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
