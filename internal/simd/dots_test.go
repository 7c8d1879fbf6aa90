package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestDots(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, level := range Levels() {
		for _, d := range []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 67, 128, 301} {
			t.Run(fmt.Sprintf("level=%v/d=%d", level, d), func(t *testing.T) {
				for _, shape := range [][2]int{{0, 3}, {1, 1}, {1, 4}, {1, 7}, {2, 4}, {3, 5}, {4, 4}, {5, 9}, {7, 3}} {
					na, nb := shape[0], shape[1]
					as, bs, ds := d+r.IntN(3), d+r.IntN(3), nb+r.IntN(3)
					a, b, dst := guarded[float32](t, max(na-1, 0)*as+d), guarded[float32](t, (nb-1)*bs+d), guarded[float32](t, max(na-1, 0)*ds+nb)
					for _, s := range [][]float32{a, b} {
						for i := range s {
							s[i] = float32(r.NormFloat64())
						}
					}
					s := At(level)
					s.Dots(RowsOf(dst, ds), RowsOf(a, as), RowsOf(b, bs), na, nb, d)
					one := make([]float32, 1)
					for i := range na {
						for j := range nb {
							p, q, got := a[i*as:][:d], b[j*bs:][:d], float64(dst[i*ds+j])
							want, size := 0.0, 0.0
							for c := range p {
								want += float64(p[c]) * float64(q[c])
								size += math.Abs(float64(p[c]) * float64(q[c]))
							}
							if math.Abs(got-want) > float64(d/4+6)*0x1p-24*size {
								t.Fatalf("dot of %d and %d: %v, want %v", i, j, got, want)
							}
							if s.Dots(RowsOf(one, 1), RowsOf(p, d), RowsOf(q, d), 1, 1, d); float64(one[0]) != got {
								t.Fatalf("dot of %d and %d: %v in a tile, %v alone", i, j, got, one[0])
							}
						}
					}
				}
			})
		}
	}
}
