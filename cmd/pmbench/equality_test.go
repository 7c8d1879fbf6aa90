package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// suitesLab is a small lab until the test ends.
func suitesLab(t *testing.T) *lab {
	t.Helper()
	l := smallLab()
	t.Cleanup(l.close)
	return l
}

// All pairs are looked at, whatever the number of rows is modulo the blocks, and the sums
// are those of the definition, to the last bit.
func TestClosePairs(t *testing.T) {
	l := suitesLab(t)
	for _, n := range []int{2, 5, 16, 17, 18, 19, 63, 530} {
		x, err := searchSet{"hard", n, 13}.points()
		if err != nil {
			t.Fatal(err)
		}
		const radius = 1.1
		var want []closePair
		for i := range n {
			for j := i + 1; j < n; j++ {
				sum := 0.0
				for c := range x.Cols {
					e := float64(x.Data[i*x.Stride+c]) - float64(x.Data[j*x.Stride+c])
					sum += float64(e * e)
				}
				if r := math.Sqrt(sum); r <= radius {
					want = append(want, closePair{uint32(i), uint32(j), r})
				}
			}
		}
		got, err := closePairs(t.Context(), x, radius, l.workers(2), func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(got, func(a, b closePair) int { return cmp.Compare(a.distance, b.distance) }) {
			t.Errorf("n = %d: not in order", n)
		}
		slices.SortFunc(got, func(a, b closePair) int { return cmp.Compare(a.key(), b.key()) })
		if !slices.Equal(got, want) {
			t.Errorf("n = %d: %d pairs, want %d", n, len(got), len(want))
		}
	}
}

// A comparison sees one pair too few and one too many.
func TestComparePairs(t *testing.T) {
	want := []closePair{{2, 5, 0.1}, {0, 1, 0.2}, {0, 7, 0.3}}
	all := []uint64{want[1].key(), want[2].key(), want[0].key()}
	other := closePair{i: 1, j: 2}.key()
	for _, c := range []struct {
		found          []uint64
		missing, extra int
	}{
		{all, 0, 0},
		{nil, 3, 0},
		{all[:2], 1, 0},
		{[]uint64{all[0], all[1], other, all[2]}, 0, 1},
		{[]uint64{all[0], other, all[2]}, 1, 1},
	} {
		if missing, extra := comparePairs(want, c.found); missing != c.missing || extra != c.extra {
			t.Errorf("%x: %d missing and %d too many, want %d and %d", c.found, missing, extra, c.missing, c.extra)
		}
	}
}

// The search finds the pairs of all distances at radii that are distances.
func TestEquality(t *testing.T) {
	l := suitesLab(t)
	for _, kind := range []string{"easy", "hard"} {
		sub, err := equalitySubject(t.Context(), l, searchSet{kind, 700, 70}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(sub.equal) != 3 || sub.equal[0].Pairs != 8*700/2 || sub.equal[2].Degree != 200 {
			t.Errorf("%+v", sub.equal)
		}
		pairs := 0
		for _, e := range sub.equal {
			pairs += e.Pairs
		}
		if sub.nnz != 2*int64(pairs) {
			t.Errorf("%d entries for %d pairs", sub.nnz, pairs)
		}
	}
}

// Rows too few for any of the degrees are refused.
func TestEqualityOfFewRows(t *testing.T) {
	if _, err := equalitySubject(t.Context(), suitesLab(t), searchSet{"easy", 16, 9}, 1); err == nil {
		t.Error("16 rows are compared")
	}
}

// Found pairs are numbered as the rows were given, equal rows included.
func TestFoundPairs(t *testing.T) {
	l := suitesLab(t)
	x, err := searchSet{"easy", 300, 40}.points()
	if err != nil {
		t.Fatal(err)
	}
	copy(x.Data[7*40:8*40], x.Data[250*40:251*40])
	for _, radius := range []float64{0.5, 0.7, 0.9} {
		want, err := closePairs(t.Context(), x, radius, l.workers(1), func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		o := kernel.Options{Workers: l.workers(2)}
		found, err := foundPairs(t.Context(), x, radius, o)
		if err != nil {
			t.Fatal(err)
		}
		if missing, extra := comparePairs(want, found); missing+extra > 0 || len(want) == 0 {
			t.Errorf("radius %g: of %d pairs %d are missing, and %d are too many", radius, len(want), missing, extra)
		}
		// A little less finds one less.
		last := want[len(want)-1].distance
		if found, err = foundPairs(t.Context(), x, math.Nextafter(last, 0), o); err != nil {
			t.Fatal(err)
		}
		if missing, extra := comparePairs(want, found); missing == 0 || extra > 0 {
			t.Errorf("radius %v: %d missing, %d too many", last, missing, extra)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := closePairs(ended, x, 1, l.workers(1), func(float64) {}); err == nil {
		t.Error("an ended context goes unnoticed")
	}
}
