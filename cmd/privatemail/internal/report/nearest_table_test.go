package report

import (
	"strings"
	"testing"
)

// The table shows the first queries and the first rows of each, and says what it leaves out.
func TestNearestTable(t *testing.T) {
	answer := func(q int) (ids []int32, distances []float32) {
		for i := range 9 - q { // later queries have fewer rows
			ids, distances = append(ids, int32(10*q+i)), append(distances, float32(i)/4)
		}
		return ids, distances
	}
	for _, c := range []struct {
		queries, k int
		head       string
		lines      int
	}{
		{6, 9, "the first 5 of 6 queries, the first 8 of 9 rows; -out writes all", 13},
		{2, 8, "all queries; -out writes all", 7},
	} {
		var out strings.Builder
		if err := WriteNearest(&out, c.queries, c.k, answer); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if len(lines) != c.lines+1 || !strings.HasSuffix(lines[0], c.head) {
			t.Errorf("%d lines:\n%s", len(lines), out.String())
		}
		for at, want := range map[int]string{
			2: "query 0 row 0 1 2 3 4 5 6 7", 3: "distance 0 0.25 0.5 0.75 1 1.25 1.5 1.75", 4: "query 1 row 10 11 12 13 14 15 16 17",
		} {
			if got := strings.Join(strings.Fields(lines[at]), " "); got != want {
				t.Errorf("line %d is %q, want %q", at, got, want)
			}
		}
	}
}
