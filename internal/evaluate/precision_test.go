package evaluate

import (
	"errors"
	"math"
	"testing"
)

func TestAveragePrecision(t *testing.T) {
	gallery := []int32{0, 0, 1, 1, 1, -1}
	for _, c := range []struct {
		name  string
		index []int
		k     int
		query []int32
		want  float64
	}{
		{"all first", []int{0, 1, 2, 3, 4, 5}, 6, []int32{0}, 1},
		// Hits at places 1 and 3 of 2 rows: (1 + 2/3)/2.
		{"one late", []int{0, 2, 1}, 3, []int32{0}, (1 + 2./3) / 2},
		// A list of 2 can hold 2 of the 3 rows: full marks for both.
		{"short list", []int{2, 3}, 2, []int32{1}, 1},
		{"missing answers", []int{-1, 0}, 2, []int32{0}, 0.25},
		{"unlabelled matches nothing", []int{5, 0}, 2, []int32{0}, 0.25},
		{"class not there", []int{0, 1}, 2, []int32{7}, 0},
		{"mean of two", []int{0, 1, 2, 3}, 2, []int32{0, 0}, 0.5},
	} {
		r := &Ranking{K: c.k, Index: c.index}
		got, err := r.AveragePrecision(c.query, gallery)
		if err != nil || math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %g, %v, want %g", c.name, got, err, c.want)
		}
	}
	r := &Ranking{K: 1, Index: []int{9}}
	if _, err := r.AveragePrecision([]int32{0}, gallery); !errors.Is(err, ErrRow) {
		t.Errorf("a row that is not there: %v", err)
	}
	if _, err := r.AveragePrecision([]int32{-1}, make([]int32, 10)); !errors.Is(err, ErrLabel) {
		t.Errorf("no label: %v", err)
	}
	if _, err := r.AveragePrecision(nil, gallery); !errors.Is(err, ErrShape) {
		t.Errorf("no queries: %v", err)
	}
}
