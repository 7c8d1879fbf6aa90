package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Offsets are those of the reference, for pieces of any rows, and nothing else is
// written.
func TestPackColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, level := range Levels() {
		for trial := range 200 {
			t.Run(fmt.Sprintf("level=%v/%d", level, trial), func(t *testing.T) {
				rows := 1 + r.IntN(12)
				ptr, base := guarded[uint64](t, rows+1), guarded[uint32](t, rows)
				for i := range rows {
					ptr[i+1], base[i] = ptr[i]+uint64(r.IntN(50)), r.Uint32()
					if r.IntN(3) == 0 {
						ptr[i+1] = ptr[i] + uint64(r.IntN(3))
					}
				}
				nnz := int(ptr[rows])
				ind, got, want := guarded[uint32](t, nnz), guarded[uint16](t, nnz), make([]uint16, nnz)
				for i := range rows {
					for p := ptr[i]; p < ptr[i+1]; p++ {
						ind[p] = base[i] + uint32(r.IntN(1<<16))
					}
				}
				lo := r.IntN(rows)
				hi := lo + r.IntN(rows-lo+1)
				packColumnsGo(want, ptr[lo:hi+1], base[lo:hi], ind)
				At(level).PackColumns(got, ptr[lo:hi+1], base[lo:hi], ind)
				if !slices.Equal(got, want) {
					t.Fatalf("%v, want %v", got, want)
				}
			})
		}
	}
	for name, f := range map[string]func(){
		"off": func() {
			At(Best()).PackColumns(make([]uint16, 1), []uint64{0, 2}, make([]uint32, 1), make([]uint32, 2))
		},
		"base": func() { At(Best()).PackColumns(make([]uint16, 2), []uint64{0, 2}, nil, make([]uint32, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
