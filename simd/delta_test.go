package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// deltasOf encodes columns in guarded memory, as those of rows lo, lo+1, ...
func deltasOf(t testing.TB, ptr []uint64, ind []uint32, lo int) *Deltas {
	c := &Deltas{Words: guarded[int16](t, len(ind)), Rows: make([]DeltaRow, lo, lo+len(ptr))}
	var far []uint32
	column := uint32(12345)
	for i := range len(ptr) - 1 {
		c.Rows = append(c.Rows, DeltaRow{column, uint32(len(far))})
		for p := ptr[i]; p < ptr[i+1]; p++ {
			d := ind[p] - column
			column = ind[p]
			if int32(d) > math.MinInt16 && int32(d) <= math.MaxInt16 {
				c.Words[p] = int16(d)
				continue
			}
			c.Words[p] = FarDelta
			far = append(far, d+1<<15)
		}
	}
	c.Far = guarded[uint32](t, len(far))
	copy(c.Far, far)
	return c
}

// compareDeltas compares the products of a case with those of its plain form.
func (c *sparseCase) compareDeltas(t *testing.T, level Level, piece, lo int) {
	t.Helper()
	halves, singles := guarded[uint16](t, len(c.val)), guarded[float32](t, len(c.val))
	for p, v := range c.val {
		halves[p] = Float16(v)
		singles[p] = Float32(halves[p])
	}
	rounded := *c
	rounded.val = singles
	want := c.at(t, Generic, c.rows()+1)
	want16 := rounded.at(t, Generic, c.rows()+1)
	deltas := deltasOf(t, c.ptr, c.ind, lo)
	for i := range c.rows() {
		row := c.ind[c.ptr[i]:c.ptr[i+1]]
		if got := deltas.Columns(nil, lo+i, c.ptr[i], c.ptr[i+1]); !slices.Equal(got, row) {
			t.Fatalf("row %d has the columns %v, want %v", lo+i, got, row)
		}
	}
	got, got16 := guarded[float32](t, len(want)), guarded[float32](t, len(want))
	for i := range got {
		got[i], got16[i] = -7, -7
	}
	s := At(level)
	for from := 0; from < c.rows(); from += piece {
		to := min(from+piece, c.rows())
		s.MulDeltas(got[from*c.dstStride:], c.dstStride, c.k, c.ptr[from:to+1], deltas, lo+from, c.val, nil, c.x, c.stride)
		s.MulDeltas(got16[from*c.dstStride:], c.dstStride, c.k, c.ptr[from:to+1], deltas, lo+from, nil, halves, c.x, c.stride)
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
			t.Fatalf("row %d column %d: %v, want %v", i/c.dstStride, i%c.dstStride, got[i], want[i])
		}
		if math.Float32bits(got16[i]) != math.Float32bits(want16[i]) && !(got16[i] != got16[i] && want16[i] != want16[i]) {
			t.Fatalf("16 bits: row %d column %d: %v, want %v", i/c.dstStride, i%c.dstStride, got16[i], want16[i])
		}
	}
}

// sortRows puts the columns of every row in order.
func (c *sparseCase) sortRows() {
	for i := range c.rows() {
		slices.Sort(c.ind[c.ptr[i]:c.ptr[i+1]])
	}
}

func TestMulDeltas(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var lengths []int
	for m := range 70 {
		lengths = append(lengths, m, r.IntN(9))
	}
	lengths = append(lengths, 127, 128, 129, 1000, 2500)
	for _, level := range Levels() {
		for k := 1; k <= 40; k++ {
			t.Run(fmt.Sprintf("level=%v/k=%d", level, k), func(t *testing.T) {
				c := newSparseCase(r, t, lengths, 37, k)
				c.compareDeltas(t, level, 1000, 0) // columns in any order: most are far
				c.sortRows()
				c.compareDeltas(t, level, 1000, 40_000)
				c.compareDeltas(t, level, 3, 17)
				for _, lengths := range [][]int{nil, {0}, {0, 0, 0}, {1}, {5, 0, 0}} {
					newSparseCase(r, t, lengths, 5, k).compareDeltas(t, level, 2, r.IntN(80_000))
				}
			})
		}
	}
}

// Columns far apart, in the middle of a row and at its ends, with words around
// them that are as large as a near one can be.
func TestMulDeltasFar(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, level := range Levels() {
		for _, k := range []int{1, 2, 4, 8, 16, 32} {
			c := newSparseCase(r, t, []int{0, 1, 9, 16, 17, 40, 64, 65, 100, 3}, 300_000/k, k)
			for p := range c.ind {
				c.ind[p] = uint32(min(int(c.ind[p])/0x7ffe*0x7ffe+r.IntN(3), 300_000/k-1))
			}
			c.sortRows()
			for _, lo := range []int{0, 1 << 15, 200_000} {
				c.compareDeltas(t, level, 4, lo)
			}
		}
	}
}

// Rows of x beyond 4 GiB are found, and columns from 2^31 on.
func TestMulDeltasFarColumns(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no room")
	}
	far := uint32(1<<31 + 5)
	base := lazily(t, 4*(uint64(far)+64))
	ptr, val := []uint64{0, 5}, []float32{1, 1, 1, 1, 2}
	for _, k := range []int{1, 2, 4, 8, 16, 32} {
		// The largest column times its stride is the same number for all k.
		column := far / uint32(k)
		last := int(column)*k + k - 1
		base[last] = 3
		c := deltasOf(t, ptr, []uint32{0, 1, column, column, column}, 7)
		for _, level := range Levels() {
			got := make([]float32, k)
			At(level).MulDeltas(got, k, k, ptr, c, 7, val, nil, base, k)
			if got[k-1] != 12 {
				t.Errorf("%v, k = %d: %v, want 12", level, k, got[k-1])
			}
		}
		base[last] = 0
	}
}

func TestMulDeltasNonFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	r := rand.New(rand.NewPCG(15, 16))
	for _, level := range Levels() {
		for _, k := range []int{1, 2, 3, 4, 8, 16, 32, 40} {
			c := newSparseCase(r, t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 30}, 8, k)
			for _, v := range []float32{inf, -inf, nan, math.MaxFloat32, 1e-40, float32(math.Copysign(0, -1))} {
				for i := range c.x {
					if r.IntN(10) == 0 {
						c.x[i] = v
					}
				}
				c.compareDeltas(t, level, 4, 3)
			}
		}
	}
}

func TestMulDeltasPanics(t *testing.T) {
	s := At(Best())
	ptr, ind, val, x := []uint64{0, 2, 3}, []uint32{0, 1, 0}, make([]float32, 3), make([]float32, 8)
	c := deltasOf(t, ptr, ind, 0)
	short := *c
	short.Words = short.Words[:len(short.Words)-1]
	for name, f := range map[string]func(){
		"short dst":   func() { s.MulDeltas(make([]float32, 7), 4, 4, ptr, c, 0, val, nil, x, 4) },
		"short words": func() { s.MulDeltas(make([]float32, 8), 4, 4, ptr, &short, 0, val, nil, x, 4) },
		"short val":   func() { s.MulDeltas(make([]float32, 8), 4, 4, ptr, c, 0, val[:2], nil, x, 4) },
		"short val16": func() { s.MulDeltas(make([]float32, 8), 4, 4, ptr, c, 0, nil, make([]uint16, 2), x, 4) },
		"rows":        func() { s.MulDeltas(make([]float32, 8), 4, 4, ptr, c, 1, val, nil, x, 4) },
		"row":         func() { s.MulDeltas(make([]float32, 8), 4, 4, ptr, c, -1, val, nil, x, 4) },
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

// Every number of 16 bits comes back, the nearest is taken, and the error is
// what Float16 says.
func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		v := Float32(uint16(h))
		if v != v {
			continue
		}
		if got := Float16(v); got != uint16(h) {
			t.Fatalf("%#04x is %g and comes back as %#04x", h, v, got)
		}
		if next := Float32(uint16(h + 1)); h < 0x7bff {
			half := (v + next) / 2 // exact
			even := uint16(h + h&1)
			if got := Float16(half); got != even {
				t.Fatalf("%g is halfway and goes to %#04x, want %#04x", half, got, even)
			}
			if got := Float16(math.Nextafter32(half, 0)); got != uint16(h) {
				t.Fatalf("below %g: %#04x, want %#04x", half, got, h)
			}
			if got := Float16(math.Nextafter32(half, 1e9)); got != uint16(h+1) {
				t.Fatalf("above %g: %#04x, want %#04x", half, got, h+1)
			}
		}
	}
	for _, v := range []float32{65519.996, 65520, 1e30, float32(math.Inf(1))} {
		if got := Float16(v); (got == 0x7c00) != (v >= 65520) {
			t.Errorf("%g is %#04x", v, got)
		}
	}
	if v := Float32(Float16(float32(math.NaN()))); v == v {
		t.Error("NaN is a number")
	}
	r := rand.New(rand.NewPCG(19, 20))
	for range 1_000_000 {
		v := math.Float32frombits(r.Uint32())
		if size := math.Abs(float64(v)); size < 65520 {
			if e := math.Abs(float64(Float32(Float16(v))) - float64(v)); e > max(size*0x1p-11, 0x1p-25) || (size >= 0x1p-14 && e > size*0x1p-11) {
				t.Fatalf("%g is off by %g", v, e)
			}
		}
	}
}
