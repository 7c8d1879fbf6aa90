package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// All levels agree with the definition.
func TestWordDots(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, depth := range []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1408} {
		for _, rows := range []int{0, 1, 2, 3, 4, 5, 7, 9} {
			for _, columns := range []int{0, 1, 3, 4, 5, 8, 9} {
				a, b := guarded[uint32](t, rows*depth), guarded[uint32](t, columns*depth)
				for i := range a {
					a[i] = r.Uint32()
				}
				for i := range b {
					if b[i] = r.Uint32(); r.IntN(4) == 0 {
						b[i] = math.MaxUint32
					}
				}
				want := make([]uint32, rows*columns)
				for i := range rows {
					for c := range columns {
						for p := range depth {
							want[i*columns+c] += a[i*depth+p] * b[c*depth+p]
						}
					}
				}
				for _, level := range Levels() {
					got := guarded[uint32](t, len(want))
					for i := range got {
						got[i] = 0x55555555
					}
					At(level).WordDots(got, a, b, depth)
					if !slices.Equal(got, want) {
						t.Fatalf("%v, %d rows, %d columns, depth %d: %x, want %x", level, rows, columns, depth, got, want)
					}
				}
			}
		}
	}
}

func TestWordDotsPanics(t *testing.T) {
	dst, a, b := make([]uint32, 6), make([]uint32, 20), make([]uint32, 30)
	for _, s := range All() {
		for name, f := range map[string]func(){
			"dst":   func() { s.WordDots(dst[:5], a, b, 10) },
			"a":     func() { s.WordDots(dst, a[:19], b, 10) },
			"b":     func() { s.WordDots(dst, a, b[:29], 10) },
			"depth": func() { s.WordDots(dst, a, b, 0) },
			"less":  func() { s.WordDots(dst, a, b, -10) },
		} {
			mustPanic(t, fmt.Sprintf("%v, %s", s, name), f)
		}
		s.WordDots(dst, a, b, 10)
	}
}
