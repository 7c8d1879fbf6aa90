package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSqDists64(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for d := range 140 {
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) {
			c := newToCase(r, t, d, 1+r.IntN(9), 1+r.IntN(25))
			var first []float64
			for _, level := range Levels() {
				dst := guarded[float64](t, len(c.index))
				At(level).SqDists64(dst, c.x, RowsOf(c.rows, c.stride), c.index)
				if first == nil {
					first = slices.Clone(dst)
				}
				if !slices.Equal(dst, first) {
					t.Errorf("%v: %v, want %v", level, dst, first)
				}
			}
			for m, i := range c.index {
				want := 0.0
				for k, v := range c.x {
					e := float64(v) - float64(c.rows[int(i)*c.stride+k])
					want += float64(e * e)
				}
				if math.Abs(first[m]-want) > (float64(d)*2+8)*0x1p-53*want {
					t.Fatalf("squared distance %v, want %v", first[m], want)
				}
			}
		})
	}
}

func TestSqDists64Panics(t *testing.T) {
	dst, x, rows := make([]float64, 2), make([]float32, 10), make([]float32, 30)
	for _, level := range Levels() {
		s := At(level)
		for name, f := range map[string]func(){
			"dst":    func() { s.SqDists64(dst[:1], x, RowsOf(rows, 10), []uint32{0, 1}) },
			"stride": func() { s.SqDists64(dst, x, RowsOf(rows, 9), []uint32{0, 1}) },
			"first":  func() { s.SqDists64(dst, x, RowsOf(rows, 10), []uint32{3, 1}) },
			"last":   func() { s.SqDists64(dst, x, RowsOf(rows, 10), []uint32{1, 1 << 31}) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v, %s: no panic", level, name)
					}
				}()
				f()
			}()
		}
		s.SqDists64(nil, x, Rows[float32]{Stride: 10}, nil)
	}
}
