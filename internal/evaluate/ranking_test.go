package evaluate

import (
	"slices"
	"testing"
)

func TestRanking(t *testing.T) {
	r := &Ranking{K: 3, Index: []int{0, 2, 3, 1, 2, 0}}
	if r.Queries() != 2 || !slices.Equal(r.Row(0), []int{0, 2, 3}) || !slices.Equal(r.Row(1), []int{1, 2, 0}) || new(Ranking).Queries() != 0 {
		t.Errorf("%+v", r)
	}
}
