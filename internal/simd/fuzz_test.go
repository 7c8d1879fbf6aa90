package simd

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// numbers reads float32 numbers of any kind from bytes.
func numbers(t testing.TB, data []byte) []float32 {
	s := guarded[float32](t, len(data)/4)
	for i := range s {
		s[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return s
}

func FuzzMulSparse(f *testing.F) {
	f.Add(uint8(8), []byte{0, 1, 2, 3, 4, 5, 32, 0, 7}, uint64(1))
	f.Add(uint8(1), []byte{255, 255}, uint64(2))
	f.Add(uint8(33), []byte{1}, uint64(3))
	f.Fuzz(func(t *testing.T, k uint8, lengths []byte, seed uint64) {
		if len(lengths) > 200 {
			return
		}
		rows := make([]int, len(lengths))
		for i, m := range lengths {
			rows[i] = int(m)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		c := newSparseCase(r, t, rows, 1+r.IntN(50), 1+int(k)%70)
		for _, s := range [][]float32{c.val, c.x} {
			for i := range s {
				if r.IntN(64) == 0 {
					s[i] = math.Float32frombits(r.Uint32())
				}
			}
		}
		for _, level := range Levels() {
			c.compare(t, level, 1+r.IntN(20))
			c.compareSums(t, level, 1+r.IntN(20))
			c.compareOffsets(t, level, 1+r.IntN(20))
		}
	})
}

func FuzzNear(f *testing.F) {
	f.Add(uint8(2), make([]byte, 200), uint16(3), uint16(17), uint16(5), 1.0)
	f.Add(uint8(3), make([]byte, 444), uint16(0), uint16(37), uint16(37), 0.0)
	f.Fuzz(func(t *testing.T, d uint8, data []byte, from, to, self uint16, r2 float64) {
		axes := 1 + int(d)%9
		coords := numbers(t, data)
		if len(coords) < CoordinatePad+axes {
			return
		}
		n := (len(coords) - CoordinatePad) / axes
		lo, hi := uint32(min(int(from), n)), uint32(min(int(to), n))
		first := int(self) % n
		for _, level := range Levels() {
			checkNearAt(t, level, axes, coords, n, []uint32{lo, hi, 0, lo}, first, min(n-first, 3), r2)
		}
	})
}

func FuzzExpNeg(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0x80, 0x7f, 0, 0, 0xc0, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		x := numbers(t, data)
		if len(x) == 0 {
			return
		}
		want, got := make([]float32, len(x)), guarded[float32](t, len(x))
		expNegF32Go(want, x)
		for _, level := range Levels() {
			At(level).expNeg(got, x)
			for i, v := range got {
				if v != want[i] && !(v != v && want[i] != want[i]) {
					t.Fatalf("%v: exp(-%g) = %g, want %g", level, x[i], v, want[i])
				}
			}
		}
	})
}

func FuzzFinishStep(f *testing.F) {
	f.Add(uint8(2), uint8(9), uint64(1))
	f.Fuzz(func(t *testing.T, k, rows uint8, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := newFinishCase(r, t, int(rows), 1+int(k)%70, r.IntN(2) == 0)
		for _, s := range [][]float32{c.x, c.wx} {
			for i := range s {
				if r.IntN(64) == 0 {
					s[i] = math.Float32frombits(r.Uint32())
				}
			}
		}
		for _, s := range [][]float64{c.degrees, c.tables.Weight, c.tables.Extra, c.tables.Target} {
			for i := range s {
				if r.IntN(64) == 0 {
					s[i] = math.Float64frombits(r.Uint64())
				}
			}
		}
		piece := 1 + r.IntN(100)
		want := c.at(t, Generic, piece)
		for _, s := range All() {
			c.with(t, s, piece).compare(t, want)
		}
	})
}

func FuzzByteDotsAbove(f *testing.F) {
	f.Add(uint8(1), uint8(1), uint8(1), uint64(1))
	f.Add(uint8(47), uint8(2), uint8(3), uint64(2))
	f.Add(uint8(32), uint8(1), uint8(2), uint64(3))
	f.Fuzz(func(t *testing.T, rows, words, deep uint8, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		newBytesCase(r, t, 1+int(rows)%70, 64*(1+int(words)%4), 64*(1+int(deep)%5)).check(t)
	})
}

func FuzzMulWords(f *testing.F) {
	f.Add(uint8(1), uint8(1), uint8(1), uint8(3), uint64(1))
	f.Add(uint8(4), uint8(8), uint8(12), uint8(2), uint64(2))
	f.Add(uint8(7), uint8(2), uint8(20), uint8(0), uint64(3))
	f.Fuzz(func(t *testing.T, groups, deep, columns, width uint8, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 4))
		newWordsCase(r, t, 16*(1+int(groups)%9), 64*(1+int(deep)%10), 1+int(columns)%40, 1+int(width)%4).check(t)
	})
}

func FuzzSqDists(f *testing.F) {
	f.Add(uint16(64), uint8(3), float32(100), uint64(1))
	f.Add(uint16(131), uint8(20), float32(200), uint64(2))
	f.Fuzz(func(t *testing.T, d uint16, m uint8, limit float32, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := newToCase(r, t, int(d)%600, 1+r.IntN(20), 1+int(m))
		for _, s := range [][]float32{c.x, c.rows} {
			for i := range s {
				if r.IntN(256) == 0 {
					s[i] = math.Float32frombits(r.Uint32())
				}
			}
		}
		c.check(t, limit)
	})
}
