package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// offsetsOf returns bases and offsets of columns in guarded memory, and false if the
// columns of a row are too far apart.
func offsetsOf(t testing.TB, ptr []uint64, ind []uint32) (base []uint32, off []uint16, ok bool) {
	base, off = guarded[uint32](t, len(ptr)-1), guarded[uint16](t, len(ind))
	for r := range base {
		row := ind[ptr[r]:ptr[r+1]]
		if len(row) == 0 {
			continue
		}
		base[r] = slices.Min(row)
		if slices.Max(row)-base[r] > math.MaxUint16 {
			return nil, nil, false
		}
		for e, j := range row {
			off[int(ptr[r])+e] = uint16(j - base[r])
		}
	}
	return base, off, true
}

// compareOffsets compares the products of a case, by all choices of a level, with those of
// its plain form.
func (c *sparseCase) compareOffsets(t *testing.T, level Level, piece int) {
	t.Helper()
	for _, s := range choicesOf(level) {
		c.compareOffsetsWith(t, s, piece)
	}
}

func (c *sparseCase) compareOffsetsWith(t *testing.T, s *Kernels, piece int) {
	t.Helper()
	base, off, ok := offsetsOf(t, c.ptr, c.ind)
	if !ok {
		t.Fatal("columns too far apart")
	}
	halves, float32s := guarded[uint16](t, len(c.val)), guarded[float32](t, len(c.val))
	for p, v := range c.val {
		halves[p] = Float16(v)
	}
	s.Float32s(float32s, halves)
	rounded := *c
	rounded.val = float32s
	want := c.at(t, Generic, c.rows()+1)
	want16 := rounded.at(t, Generic, c.rows()+1)
	got, got16 := guarded[float32](t, len(want)), guarded[float32](t, len(want))
	for i := range got {
		got[i], got16[i] = -7, -7 // the gaps between rows must stay
	}
	for lo := 0; lo < c.rows(); lo += piece {
		hi := min(lo+piece, c.rows())
		s.MulSparseOffsets(RowsOf(got[lo*c.dstStride:], c.dstStride), c.k, c.ptr[lo:hi+1], base[lo:hi], off, c.val, RowsOf(c.x, c.stride))
		s.MulSparseOffsets16(RowsOf(got16[lo*c.dstStride:], c.dstStride), c.k, c.ptr[lo:hi+1], base[lo:hi], off, halves, RowsOf(c.x, c.stride))
	}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }
	for i := range want {
		if !same(got[i], want[i]) {
			t.Fatalf("%v: row %d column %d: %v, want %v", s, i/c.dstStride, i%c.dstStride, got[i], want[i])
		}
		if !same(got16[i], want16[i]) {
			t.Fatalf("%v, 16 bits: row %d column %d: %v, want %v", s, i/c.dstStride, i%c.dstStride, got16[i], want16[i])
		}
	}
}

func TestMulSparseOffsets(t *testing.T) {
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
				c.compareOffsets(t, level, 1000)
				c.compareOffsets(t, level, 3)
				for _, lengths := range [][]int{nil, {0}, {0, 0, 0}, {1}, {5, 0, 0}, {0, 0, 40}} {
					newSparseCase(r, t, lengths, 5, k).compareOffsets(t, level, 2)
				}
			})
		}
	}
}

// Rows as wide as an offset allows, with bases all over the columns.
func TestMulSparseOffsetsWide(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, level := range Levels() {
		for _, k := range []int{1, 2, 3, 4, 8, 16, 32} {
			const cols = 1 << 18
			c := newSparseCase(r, t, []int{0, 1, 9, 16, 17, 40, 64, 65, 100, 3}, cols, k)
			for i := range c.rows() {
				row := c.ind[c.ptr[i]:c.ptr[i+1]]
				base := r.IntN(cols - 1<<16)
				for e := range row {
					row[e] = uint32(base + r.IntN(1<<16))
				}
				if len(row) > 1 {
					row[0], row[len(row)-1] = uint32(base), uint32(base+1<<16-1)
				}
			}
			c.compareOffsets(t, level, 4)
		}
	}
}

// Rows of x beyond 4 GiB are found, and bases from 2^31 on.
func TestMulSparseOffsetsFarColumns(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no room")
	}
	far := uint32(1<<31 + 5)
	x := lazily(t, 4*(uint64(far)+64))
	ptr, val := []uint64{0, 5}, []float32{1, 1, 1, 1, 2}
	for _, k := range []int{1, 2, 4, 8, 16, 32} {
		// The largest column times its stride is the same number for all k.
		column := far / uint32(k)
		last := int(column)*k + k - 1
		x[last] = 3
		base, off, _ := offsetsOf(t, ptr, []uint32{column - 65535, column - 1, column, column, column})
		for _, s := range All() {
			got := make([]float32, k)
			s.MulSparseOffsets(RowsOf(got, k), k, ptr, base, off, val, RowsOf(x, k))
			if got[k-1] != 12 {
				t.Errorf("%v, k = %d: %v, want 12", s, k, got[k-1])
			}
		}
		x[last] = 0
	}
}

func TestMulSparseOffsetsNonFinite(t *testing.T) {
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
				c.compareOffsets(t, level, 4)
			}
		}
	}
}

func TestMulSparseOffsetsPanics(t *testing.T) {
	s := At(Best())
	ptr, val, x := []uint64{0, 2, 3}, make([]float32, 3), make([]float32, 8)
	base, off, half := []uint32{0, 0}, []uint16{0, 1, 0}, make([]uint16, 3)
	for name, f := range map[string]func(){
		"short dst":  func() { s.MulSparseOffsets(RowsOf(make([]float32, 7), 4), 4, ptr, base, off, val, RowsOf(x, 4)) },
		"short off":  func() { s.MulSparseOffsets(RowsOf(make([]float32, 8), 4), 4, ptr, base, off[:2], val, RowsOf(x, 4)) },
		"short base": func() { s.MulSparseOffsets(RowsOf(make([]float32, 8), 4), 4, ptr, base[:1], off, val, RowsOf(x, 4)) },
		"short val":  func() { s.MulSparseOffsets(RowsOf(make([]float32, 8), 4), 4, ptr, base, off, val[:2], RowsOf(x, 4)) },
		"short half": func() { s.MulSparseOffsets16(RowsOf(make([]float32, 8), 4), 4, ptr, base, off, half[:2], RowsOf(x, 4)) },
		"bases half": func() { s.MulSparseOffsets16(RowsOf(make([]float32, 8), 4), 4, ptr, nil, off, half, RowsOf(x, 4)) },
		"float32s":   func() { s.Float32s(val, half[:2]) },
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

// Every number of 16 bits is converted at every level, in slices of every length.
func TestFloat32s(t *testing.T) {
	for _, level := range Levels() {
		for n := range 70 {
			half, got := guarded[uint16](t, n), guarded[float32](t, n)
			for i := range half {
				half[i] = uint16(997*i + 31*n)
			}
			At(level).Float32s(got, half)
			for i, v := range got {
				if want := Float32(half[i]); v != want && (v == v || want == want) {
					t.Fatalf("%v: %#04x is %g, want %g", level, half[i], v, want)
				}
			}
		}
	}
}
