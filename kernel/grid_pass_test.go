package kernel

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/grid"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
)

// A cell that holds 3,000,000 points is cut into pieces that follow each other.
func TestPiecesOfAFullCell(t *testing.T) {
	pieces, slots := grid.SplitPieces(&lattice.Sorted{Start: []uint32{0, 3_000_000}})
	end := 0
	for _, piece := range pieces {
		if piece.Lo != end || piece.Hi-piece.Lo > lattice.MostPoints {
			t.Fatalf("points %d to %d behind %d", piece.Lo, piece.Hi, end)
		}
		end = piece.Hi
	}
	if end != 3_000_000 || slots != 733 {
		t.Errorf("%d points in %d slots", end, slots)
	}
}
