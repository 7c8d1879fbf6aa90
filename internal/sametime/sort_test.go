package sametime

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The network sorts any number of slots, ties by name.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		s := make([]Slot, n)
		for i, name := range r.Perm(n) {
			s[i] = Slot{uint64(r.IntN(1+n/3)) << r.IntN(50), uint32(name), r.Uint32()}
			if r.IntN(10) == 0 {
				s[i].Key = math.MaxUint64
			}
		}
		want := slices.Clone(s)
		slices.SortFunc(want, func(a, b Slot) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Name, b.Name)) })
		if Sort(s); !slices.Equal(s, want) {
			t.Fatalf("%d slots are not sorted", n)
		}
	}
}

// Least returns the first of all slots sorted, for any two numbers.
func TestLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 60 {
		for k := 1; k < 70; k += 1 + k/4 {
			s := make([]Slot, n)
			for i, name := range r.Perm(n) {
				s[i] = Slot{uint64(r.IntN(1 + n/3)), uint32(name), r.Uint32()}
			}
			want := slices.Clone(s)
			Sort(want)
			if got := Least(s, k); !slices.Equal(got, want[:min(k, n)]) {
				t.Fatalf("the %d least of %d: %v, want %v", k, n, got, want[:min(k, n)])
			}
		}
	}
}
