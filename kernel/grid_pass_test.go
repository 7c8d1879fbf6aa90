package kernel

import "testing"

// A cell that holds 3,000,000 points is cut into pieces that follow each other.
func TestPiecesOfAFullCell(t *testing.T) {
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
