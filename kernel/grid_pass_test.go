package kernel

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
)

// A cell that holds 3,000,000 points is cut into pieces that follow each other.
func TestPiecesOfAFullCell(t *testing.T) {
	pieces, slots := splitPieces(&lattice.Sorted{Start: []uint32{0, 3_000_000}})
	end := 0
	for _, piece := range pieces {
		if piece.lo != end || piece.hi-piece.lo > lattice.MostPoints {
			t.Fatalf("points %d to %d behind %d", piece.lo, piece.hi, end)
		}
		end = piece.hi
	}
	if end != 3_000_000 || slots != 733 {
		t.Errorf("%d points in %d slots", end, slots)
	}
}
