package server

import (
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
)

// A row that is not in the list it would join by nearness has enoughCopies equals there, or
// is counted as displaced. Lists of 20 rows have no room for that many equals.
func TestCopiesOrDisplaced(t *testing.T) {
	for _, share := range []float64{1. / 50, 1. / 8} {
		x := crowded(1000, 400, 0)
		server, err := NewCells(t.Context(), x, x, CellsSettings{Epsilon: 4, Share: share})
		if err != nil {
			t.Fatal(err)
		}
		length := int(share * 1000)
		near := make([]bool, x.Rows)
		for c := range server.lists {
			for _, row := range nearestRows(x, x.Rows, server.book.Centres[3*c:3*c+3], length) {
				near[row] = true
			}
		}
		displaced, copies := 0, 0
		for i := range near {
			row := rowOf(x, uint32(i))
			list := server.lists[kmeans.Nearest([]float64{float64(row[0]), float64(row[1]), float64(row[2])}, server.book.Centres)]
			if near[i] || slices.Contains(list, uint32(i)) {
				continue
			}
			equals := 0
			for _, k := range list {
				if slices.Equal(rowOf(x, k), row) {
					equals++
				}
			}
			if equals >= enoughCopies {
				copies++
			} else {
				displaced++
			}
		}
		if displaced != server.Displaced() {
			t.Errorf("share %g: %d rows are displaced, and %d are said to be", share, displaced, server.Displaced())
		}
		if (displaced == 0) != (share == 1./8) || (copies == 0) == (share == 1./8) {
			t.Errorf("share %g: %d copies and %d displaced", share, copies, displaced)
		}
	}
}
