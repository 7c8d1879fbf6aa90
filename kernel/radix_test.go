package kernel

import "testing"

// Products of sizes that an int of 32 bits has no room for.
func TestPartsOfManyPoints(t *testing.T) {
	for _, c := range []struct{ n, part, parts, want int }{
		{10, 0, 3, 0}, {10, 1, 3, 3}, {10, 3, 3, 10},
		{3_000_000, 732, 733, 2_995_907},
		{3_000_000, 999, 1000, 2_997_000},
		{30_000_000, 99, 100, 29_700_000},
	} {
		if got := partOf(c.n, c.part, c.parts); got != c.want {
			t.Errorf("%d of %d parts of %d: %d, want %d", c.part, c.parts, c.n, got, c.want)
		}
	}
	// A cell that holds 3,000,000 points is cut into pieces that follow each other.
	pieces, slots := cutPieces(&latticeOrder{start: []uint32{0, 3_000_000}})
	end := 0
	for _, piece := range pieces {
		if piece.lo != end || piece.hi-piece.lo > gridMostPoints {
			t.Fatalf("points %d to %d behind %d", piece.lo, piece.hi, end)
		}
		end = piece.hi
	}
	if end != 3_000_000 || slots != 733 {
		t.Errorf("%d points in %d slots", end, slots)
	}
}
