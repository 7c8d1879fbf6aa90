package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// finishCase is a random input of FinishRows.
type finishCase struct {
	k, stride, dstStride int
	x                    []float32
	wx                   []float64
	rows                 []FinishRow
	mean, targets        []float64
	pull                 float64
	classes              int
}

func newFinishCase(r *rand.Rand, t testing.TB, rows, k int) *finishCase {
	c := &finishCase{k: k, stride: k + r.IntN(3), dstStride: k + r.IntN(3), classes: 4, pull: r.NormFloat64(), rows: make([]FinishRow, rows)}
	float64s := func(n int) []float64 {
		s := guarded[float64](t, n)
		for i := range s {
			s[i] = r.NormFloat64()
		}
		return s
	}
	if rows > 0 {
		c.x = guarded[float32](t, (rows-1)*c.stride+k)
		for i := range c.x {
			c.x[i] = float32(r.NormFloat64())
		}
	}
	c.wx, c.mean, c.targets = float64s(rows*k), float64s(k), float64s(c.classes*k)
	for i := range c.rows {
		class := uint32(r.IntN(c.classes))
		c.rows[i] = FinishRow{
			Degree: r.ExpFloat64() + 0.1, Laplace: r.ExpFloat64(), Spring: r.Float64(), Tie: r.NormFloat64(), Weight: r.ExpFloat64(),
			Target: class, Slot: class,
		}
	}
	return c
}

type finished struct {
	dst         []float32
	sums, class []float64
	acc         FinishSums
}

// at runs the case in pieces of some rows each.
func (c *finishCase) at(t testing.TB, level Level, piece int) *finished {
	f := &finished{sums: guarded[float64](t, c.k), class: guarded[float64](t, c.classes*c.k)}
	if len(c.rows) > 0 {
		f.dst = guarded[float32](t, (len(c.rows)-1)*c.dstStride+c.k)
	}
	for lo := 0; lo < len(c.rows); lo += piece {
		hi := min(lo+piece, len(c.rows))
		At(level).FinishRows(f.dst[lo*c.dstStride:], c.dstStride, c.x[lo*c.stride:], c.stride, c.wx[lo*c.k:], c.rows[lo:hi], c.mean, c.pull, c.targets, f.sums, f.class, &f.acc)
	}
	return f
}

func (f *finished) compare(t *testing.T, want *finished) {
	t.Helper()
	for i := range want.dst {
		if math.Float32bits(f.dst[i]) != math.Float32bits(want.dst[i]) && !(f.dst[i] != f.dst[i] && want.dst[i] != want.dst[i]) {
			t.Fatalf("dst[%d] = %v, want %v", i, f.dst[i], want.dst[i])
		}
	}
	same := func(name string, got, want []float64) {
		for i := range want {
			if got[i] != want[i] && !(got[i] != got[i] && want[i] != want[i]) {
				t.Fatalf("%s[%d] = %v, want %v", name, i, got[i], want[i])
			}
		}
	}
	same("sums", f.sums, want.sums)
	same("class", f.class, want.class)
	same("objective", f.acc.Objective[:], want.acc.Objective[:])
	same("change", f.acc.Change[:], want.acc.Change[:])
	same("spread", f.acc.Spread[:], want.acc.Spread[:])
	for i, v := range want.acc.MaxAbs {
		if got := f.acc.MaxAbs[i]; got != v && !(got != got && v != v) {
			t.Fatalf("maxAbs[%d] = %v, want %v", i, got, v)
		}
	}
}

func TestFinishRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, level := range Levels() {
		for k := 1; k <= 40; k++ {
			t.Run(fmt.Sprintf("level=%v/k=%d", level, k), func(t *testing.T) {
				for _, rows := range []int{0, 1, 2, 7, 33} {
					c := newFinishCase(r, t, rows, k)
					want := c.at(t, Generic, 100)
					c.at(t, level, 100).compare(t, want)
					c.at(t, level, 5).compare(t, want)
				}
				c := newFinishCase(r, t, 9, k)
				c.x[3*c.stride], c.x[5*c.stride] = float32(math.NaN()), float32(math.Inf(1))
				c.rows[6].Tie = math.Inf(1)
				want := c.at(t, Generic, 100)
				if v := want.acc.MaxAbs[0]; v == v {
					t.Errorf("the largest of numbers with a NaN is %v", v)
				}
				c.at(t, level, 100).compare(t, want)
			})
		}
	}
}

func TestFinishRowsPanics(t *testing.T) {
	x, wide := make([]float32, 8), make([]float64, 8)
	var acc FinishSums
	for name, f := range map[string]func(){
		"slot": func() {
			At(Best()).FinishRows(x, 2, x, 2, wide, []FinishRow{{Degree: 1, Slot: 4}}, wide[:2], 0, wide, wide, wide, &acc)
		},
		"target": func() {
			At(Best()).FinishRows(x, 2, x, 2, wide, []FinishRow{{Degree: 1, Target: 4}}, wide[:2], 0, wide, wide, wide, &acc)
		},
		"wx": func() {
			At(Best()).FinishRows(x, 2, x, 2, wide[:1], make([]FinishRow, 1), wide[:2], 0, wide, wide, wide, &acc)
		},
		"dst": func() {
			At(Best()).FinishRows(x[:1], 2, x, 2, wide, make([]FinishRow, 1), wide[:2], 0, wide, wide, wide, &acc)
		},
		"stride": func() {
			At(Best()).FinishRows(x, 1, x, 2, wide, make([]FinishRow, 1), wide[:2], 0, wide, wide, wide, &acc)
		},
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
