package embed

import (
	"testing"

	"github.com/seed-64e14a55/privatemail"
)

// The rows of the parts of a graph and those without neighbours are all rows.
func TestPartsAddUp(t *testing.T) {
	for want, c := range map[string]struct {
		n          int
		components []int
	}{
		"one: the graph is connected":                   {9, []int{9}},
		"one of 7 rows; rows without neighbours: 2":     {9, []int{7}},
		"2 that no weight connects, of 5 and 4 rows":    {9, []int{5, 4}},
		"3 that no weight connects, of 5, 3 and 2 rows": {10, []int{5, 3, 2}},
		"6 that no weight connects: the largest of 9, 5, 3 and 2 rows, and the others of 4 rows together; rows without neighbours: 1": {24, []int{9, 5, 3, 2, 2, 2}},
	} {
		if got := partsOf(c.n, &privatemail.SpectralMap{Components: c.components}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
