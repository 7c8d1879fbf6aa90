package evaluate

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestScore(t *testing.T) {
	labels := []int32{0, 0, 1, 1, -1}
	r := &Ranking{K: 3, Index: []int{
		0, 2, 1, // class 0: hit, miss, hit
		0, 1, 3, // class 1: miss, miss, hit
		4, -1, 2, // class 0: unlabelled, missing, miss
		3, 2, 4, // class 1: hit, hit, unlabelled
	}}
	s, err := r.Score([]int32{0, 1, 0, 1}, labels, 3, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []Figure{
		{K: 3, Recall: 3. / 4, Precision: 5. / 12},
		{K: 1, Recall: 2. / 4, Precision: 2. / 4},
		{K: 2, Recall: 2. / 4, Precision: 3. / 8},
	}
	if s.Queries != 4 || !slices.Equal(s.At, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
	if got := s.At[0].String(); got != "R@3 0.750  P@3 0.417" {
		t.Errorf("prints %q", got)
	}
}

func TestScoreErrors(t *testing.T) {
	labels := []int32{0, 1}
	r := &Ranking{K: 2, Index: []int{0, 1}}
	for _, c := range []struct {
		name    string
		r       *Ranking
		queries []int32
		ks      []int
		want    error
	}{
		{"no figures", r, []int32{0}, nil, ErrShape},
		{"K zero", r, []int32{0}, []int{0}, ErrShape},
		{"K beyond", r, []int32{0}, []int{3}, ErrShape},
		{"labels missing", r, nil, []int{1}, ErrShape},
		{"too many labels", r, []int32{0, 0}, []int{1}, ErrShape},
		{"no queries", &Ranking{K: 2}, nil, []int{1}, ErrShape},
		{"zero value", &Ranking{}, nil, []int{1}, ErrShape},
		{"ragged", &Ranking{K: 2, Index: []int{0, 1, 0}}, []int32{0}, []int{1}, ErrShape},
		{"unlabelled query", r, []int32{-1}, []int{1}, ErrLabel},
		{"unknown row", &Ranking{K: 1, Index: []int{2}}, []int32{0}, []int{1}, ErrRow},
	} {
		if _, err := c.r.Score(c.queries, labels, c.ks...); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

func TestOverlap(t *testing.T) {
	a := &Ranking{K: 3, Index: []int{5, 1, 2, 7, 8, 9}}
	b := &Ranking{K: 4, Index: []int{1, 5, 3, 2, -1, 9, -1, 8}}
	for _, c := range []struct {
		x, y *Ranking
		k    int
		want float64
	}{
		{a, b, 1, 0},
		{a, b, 2, 2. / 4},
		{a, b, 3, 3. / 6},
		{b, a, 3, 3. / 6},
		{a, a, 3, 1},
		{b, b, 4, 6. / 8}, // missing answers are not in common
	} {
		got, err := Overlap(c.x, c.y, c.k)
		if err != nil || math.Abs(got-c.want) > 1e-15 {
			t.Errorf("k=%d: %v, %v, want %v", c.k, got, err, c.want)
		}
	}
	if !slices.Equal(a.Index, []int{5, 1, 2, 7, 8, 9}) {
		t.Error("the ranking was changed")
	}
	for _, k := range []int{0, 4} {
		if _, err := Overlap(a, b, k); !errors.Is(err, ErrShape) {
			t.Errorf("k=%d: error %v", k, err)
		}
	}
	if _, err := Overlap(a, &Ranking{K: 3, Index: []int{1, 2, 3}}, 1); !errors.Is(err, ErrShape) {
		t.Errorf("different queries: error %v", err)
	}
}
