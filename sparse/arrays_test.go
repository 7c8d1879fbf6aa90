package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Arrays returns the arrays the matrix was made of, and the same ones in every layout
// and for matrices in pieces.
func TestArrays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 300, 20_000} {
		ptr, ind, val := []uint64{0}, []uint32{}, []float32{}
		for i := range n {
			for j := max(i-3, 0); j < min(i+4, n); j++ {
				if rng.IntN(2) == 0 && i%5 != 0 {
					ind, val = append(ind, uint32(j)), append(val, float32(rng.IntN(64)+1)/64)
				}
			}
			ptr = append(ptr, uint64(len(ind)))
		}
		a, err := New(n, n, ptr, ind, val)
		if err != nil {
			t.Fatal(err)
		}
		p, i, v := a.Arrays()
		if &p[0] != &ptr[0] || len(ind) > 0 && (&i[0] != &ind[0] || &v[0] != &val[0]) {
			t.Error("a plain matrix copies its arrays")
		}
		half := n / 2
		pieces := []Rows{{ptr[:half+1], ind[:ptr[half]], val[:ptr[half]]}, {slices.Clone(ptr[half:]), ind[ptr[half]:], val[ptr[half]:]}}
		for e := range pieces[1].Ptr {
			pieces[1].Ptr[e] -= ptr[half]
		}
		matrices := map[string]*CSR{"plain": a}
		if half > 0 {
			if matrices["pieces"], err = adoptRows(t.Context(), nil, Plain, n, pieces); err != nil {
				t.Fatal(err)
			}
		}
		for _, layout := range []Layout{Compact, Compact16} {
			if matrices[layout.String()], err = a.Convert(t.Context(), nil, layout); err != nil {
				t.Fatal(err)
			}
			if matrices[layout.String()+" and back"], err = matrices[layout.String()].Convert(t.Context(), nil, Plain); err != nil {
				t.Fatal(err)
			}
		}
		for name, m := range matrices {
			if p, i, v := m.Arrays(); !slices.Equal(p, ptr) || !slices.Equal(i, ind) || !slices.Equal(v, val) {
				t.Errorf("%s, %d rows: other arrays", name, n)
			}
		}
	}
	if p, i, v := new(CSR).Arrays(); !slices.Equal(p, []uint64{0}) || len(i)+len(v) > 0 {
		t.Errorf("the empty matrix has %v %v %v", p, i, v)
	}
}

// The arrays have no spare capacity, which may belong to others. Pieces are not taken for
// one matrix if the first one has room for the row pointers of all.
func TestArraysAreNoMoreThanTheMatrix(t *testing.T) {
	ind, val := make([]uint32, 2, 8), []float32{1, 2, 3, 4}
	a, err := Adopt(t.Context(), nil, Plain, 2, 2, []uint64{0, 1, 2}, ind, val[:2])
	if err != nil {
		t.Fatal(err)
	}
	if _, i, v := a.Arrays(); cap(i) != 2 || cap(v) != 2 {
		t.Errorf("room for %d columns and %d values of 2", cap(i), cap(v))
	}
	first := []uint64{0, 0, 7}
	pieces := []Rows{{Ptr: first[:2]}, {Ptr: []uint64{0, 0}}}
	if a, err = adoptRows(t.Context(), nil, Plain, 2, pieces); err != nil {
		t.Fatal(err)
	}
	if p, i, v := a.Arrays(); !slices.Equal(p, []uint64{0, 0, 0}) || len(i)+len(v) > 0 {
		t.Errorf("a matrix without entries, in pieces, has %v %v %v", p, i, v)
	}
}
