package suites

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// suitesLab is a small lab until the test ends.
func suitesLab(t *testing.T) *measure.Lab {
	t.Helper()
	l := measure.SmallLab()
	t.Cleanup(l.Close)
	return l
}

// All pairs are looked at, whatever the number of rows is modulo the blocks, and the sums
// are those of the definition, to the last bit.
func TestClosePairs(t *testing.T) {
	l := suitesLab(t)
	for _, n := range []int{2, 5, 16, 17, 18, 19, 63, 530} {
		x, err := SearchSet{"hard", n, 13}.Points()
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
		got, err := closePairs(t.Context(), x, radius, l.Workers(2), func(float64) {})
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
		sub, err := equalitySubject(t.Context(), l, SearchSet{kind, 700, 70}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(sub.Equal) != 3 || sub.Equal[0].Pairs != 8*700/2 || sub.Equal[2].Degree != 200 {
			t.Errorf("%+v", sub.Equal)
		}
		pairs := 0
		for _, e := range sub.Equal {
			pairs += e.Pairs
		}
		if sub.NNZ != 2*int64(pairs) {
			t.Errorf("%d entries for %d pairs", sub.NNZ, pairs)
		}
	}
}

// Rows too few for any of the degrees are refused.
func TestEqualityOfFewRows(t *testing.T) {
	if _, err := equalitySubject(t.Context(), suitesLab(t), SearchSet{"easy", 16, 9}, 1); err == nil {
		t.Error("16 rows are compared")
	}
}

// Found pairs are numbered as the rows were given, equal rows included.
func TestFoundPairs(t *testing.T) {
	l := suitesLab(t)
	x, err := SearchSet{"easy", 300, 40}.Points()
	if err != nil {
		t.Fatal(err)
	}
	copy(x.Data[7*40:8*40], x.Data[250*40:251*40])
	for _, radius := range []float64{0.5, 0.7, 0.9} {
		want, err := closePairs(t.Context(), x, radius, l.Workers(1), func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		o := kernel.Options{Workers: l.Workers(2)}
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
	if _, err := closePairs(ended, x, 1, l.Workers(1), func(float64) {}); err == nil {
		t.Error("an ended context goes unnoticed")
	}
}
