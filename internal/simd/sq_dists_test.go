package simd

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A toCase is a call of SqDists.
type toCase struct {
	x, rows []float32
	stride  int
	index   []uint32
}

func newToCase(r *rand.Rand, t testing.TB, d, n, m int) *toCase {
	c := &toCase{stride: d + r.IntN(4), x: guarded[float32](t, d), index: guarded[uint32](t, m)}
	c.rows = guarded[float32](t, (n-1)*c.stride+d)
	for _, s := range [][]float32{c.x, c.rows} {
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
	}
	for i := range c.index {
		c.index[i] = uint32(r.IntN(n))
	}
	return c
}

// at returns the distances of a level.
func (c *toCase) at(t testing.TB, level Level, limit float32) []float32 {
	dst := guarded[float32](t, len(c.index))
	At(level).SqDists(dst, c.x, RowsOf(c.rows, c.stride), c.index, limit)
	return dst
}

// check compares the bits of the levels, for any numbers.
func (c *toCase) check(t testing.TB, limit float32) {
	t.Helper()
	same := func(a, b float32) bool { return a == b || a != a && b != b }
	want := c.at(t, Generic, limit)
	for _, level := range Levels() {
		if got := c.at(t, level, limit); !slices.EqualFunc(got, want, same) {
			t.Fatalf("%v, d=%d, limit %g: %v, want %v", level, len(c.x), limit, got, want)
		}
	}
}

func TestSqDists(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for d := range 400 {
		if d > 140 && d%7 != 3 && d%64 > 1 {
			continue
		}
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) {
			c := newToCase(r, t, d, 1+r.IntN(9), 1+r.IntN(25))
			whole := c.at(t, Generic, float32(math.Inf(1)))
			for m, i := range c.index {
				want := 0.0
				for k, v := range c.x {
					e := float64(v) - float64(c.rows[int(i)*c.stride+k])
					want += e * e
				}
				if math.Abs(float64(whole[m])-want) > (float64(d)/64+10)*0x1p-24*want {
					t.Fatalf("squared distance %v, want %v", whole[m], want)
				}
			}
			// Limits that sums meet exactly, or miss by as little as possible.
			at := whole[r.IntN(len(whole))]
			for _, limit := range []float32{float32(math.Inf(1)), at, math.Nextafter32(at, 0), at / 2, 0, -1, float32(math.NaN())} {
				c.check(t, limit)
				for m, v := range c.at(t, Best(), limit) {
					if (v > limit) != (whole[m] > limit) || !(v > limit) && v != whole[m] {
						t.Fatalf("limit %g: %g, the whole sum is %g", limit, v, whole[m])
					}
				}
			}
		})
	}
}

// The same bits on every architecture, as TestSameBitsEverywhere says.
func TestSqDistsSameBitsEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	c := newToCase(r, t, 301, 20, 40)
	for _, s := range [][]float32{c.x, c.rows} {
		for i := range s {
			s[i] = float32(int32(r.Uint32())>>11) * 0x1p-20
		}
	}
	for _, level := range Levels() {
		h := fnv.New64a()
		for _, limit := range []float32{1000, 200, 50} {
			if err := binary.Write(h, binary.LittleEndian, c.at(t, level, limit)); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprintf("%016x", h.Sum64()); got != "6f173bf85668a028" {
			t.Errorf("%v: hash %s", level, got)
		}
	}
}

// Sums stop as soon as they may: the numbers after that are NaN.
func TestSqDistsStopsEarly(t *testing.T) {
	const d = 200
	x, rows := make([]float32, d), make([]float32, d)
	for i := range rows {
		rows[i] = 1
		if i >= 128 {
			rows[i] = float32(math.NaN())
		}
	}
	dst := make([]float32, 1)
	for _, level := range Levels() {
		for limit, want := range map[float32]float32{63: 64, 64: 128, 127: 128} {
			if At(level).SqDists(dst, x, RowsOf(rows, d), []uint32{0}, limit); dst[0] != want {
				t.Errorf("%v, limit %v: %v, want %v", level, limit, dst[0], want)
			}
		}
		if At(level).SqDists(dst, x, RowsOf(rows, d), []uint32{0}, 128); dst[0] == dst[0] {
			t.Errorf("%v: %v, want NaN", level, dst[0])
		}
	}
}

func TestSqDistsPanics(t *testing.T) {
	dst, x, rows := make([]float32, 2), make([]float32, 10), make([]float32, 30)
	for _, level := range Levels() {
		s := At(level)
		for name, f := range map[string]func(){
			"dst":    func() { s.SqDists(dst[:1], x, RowsOf(rows, 10), []uint32{0, 1}, 1) },
			"stride": func() { s.SqDists(dst, x, RowsOf(rows, 9), []uint32{0, 1}, 1) },
			"first":  func() { s.SqDists(dst, x, RowsOf(rows, 10), []uint32{3, 1}, 1) },
			"last":   func() { s.SqDists(dst, x, RowsOf(rows, 10), []uint32{1, 1 << 31}, 1) },
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
		s.SqDists(nil, x, Rows[float32]{Stride: 10}, nil, 1)
	}
}
