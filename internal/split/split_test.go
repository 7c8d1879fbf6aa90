package split

import "testing"

// Products of sizes that overflow an int of 32 bits.
func TestPartsOfManyPoints(t *testing.T) {
	for _, c := range []struct{ n, part, parts, want int }{
		{10, 0, 3, 0}, {10, 1, 3, 3}, {10, 3, 3, 10},
		{3_000_000, 732, 733, 2_995_907},
		{3_000_000, 999, 1000, 2_997_000},
		{30_000_000, 99, 100, 29_700_000},
	} {
		if got := Part(c.n, c.part, c.parts); got != c.want {
			t.Errorf("%d of %d parts of %d: %d, want %d", c.part, c.parts, c.n, got, c.want)
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct{ n, size, want int }{{0, 4, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}} {
		if got := Blocks(c.n, c.size); got != c.want {
			t.Errorf("Blocks(%d, %d) = %d, want %d", c.n, c.size, got, c.want)
		}
	}
	if lo, hi := Block(1, 5, 4); lo != 4 || hi != 5 {
		t.Errorf("Block(1, 5, 4) = %d, %d", lo, hi)
	}
}
