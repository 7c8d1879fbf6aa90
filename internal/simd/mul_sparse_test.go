package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A sparseCase is a random input of MulSparse, every slice in guarded memory.
type sparseCase struct {
	k, stride, dstStride int
	ptr                  []uint64
	ind                  []uint32
	val, x               []float32
}

// newSparseCase makes rows with the given numbers of entries and columns below
// cols.
func newSparseCase(r *rand.Rand, t testing.TB, lengths []int, cols, k int) *sparseCase {
	c := &sparseCase{k: k, stride: k + r.IntN(3), dstStride: k + r.IntN(3)}
	nnz := 0
	for _, m := range lengths {
		nnz += m
	}
	c.ptr, c.ind, c.val = guarded[uint64](t, len(lengths)+1), guarded[uint32](t, nnz), guarded[float32](t, nnz)
	for i, m := range lengths {
		c.ptr[i+1] = c.ptr[i] + uint64(m)
	}
	for p := range c.ind {
		c.ind[p], c.val[p] = uint32(r.IntN(cols)), float32(r.NormFloat64())
	}
	c.x = guarded[float32](t, (cols-1)*c.stride+k)
	for i := range c.x {
		c.x[i] = float32(r.NormFloat64())
	}
	return c
}

func (c *sparseCase) rows() int { return len(c.ptr) - 1 }

// at computes the product at a level.
func (c *sparseCase) at(t testing.TB, level Level, piece int) []float32 {
	return c.with(t, At(level), piece)
}

// with computes the product in pieces of some rows each.
func (c *sparseCase) with(t testing.TB, s *Kernels, piece int) []float32 {
	size := 0
	if c.rows() > 0 {
		size = (c.rows()-1)*c.dstStride + c.k
	}
	dst := guarded[float32](t, size)
	for i := range dst {
		dst[i] = -7 // the gaps between rows must stay
	}
	for lo := 0; lo < c.rows(); lo += piece {
		hi := min(lo+piece, c.rows())
		s.MulSparse(RowsOf(dst[lo*c.dstStride:], c.dstStride), c.k, c.ptr[lo:hi+1], c.ind, c.val, RowsOf(c.x, c.stride))
	}
	return dst
}

// compare compares the products of all choices of a level with plain Go.
func (c *sparseCase) compare(t *testing.T, level Level, piece int) {
	t.Helper()
	wants := c.at(t, Generic, c.rows()+1)
	for _, s := range choicesOf(level) {
		got := c.with(t, s, piece)
		for i, want := range wants {
			if math.Float32bits(got[i]) != math.Float32bits(want) && !(got[i] != got[i] && want != want) {
				t.Fatalf("%v: row %d column %d: %v, want %v", s, i/c.dstStride, i%c.dstStride, got[i], want)
			}
		}
	}
}

// withinBounds compares the reference with sums in higher precision.
func (c *sparseCase) withinBounds(t *testing.T) {
	t.Helper()
	got := c.at(t, Generic, c.rows()+1)
	for r := range c.rows() {
		for column := range c.k {
			sum, size := new(big.Float).SetPrec(300), 0.0
			for p := c.ptr[r]; p < c.ptr[r+1]; p++ {
				v := float64(c.val[p]) * float64(c.x[int(c.ind[p])*c.stride+column])
				sum.Add(sum, big.NewFloat(v))
				size += math.Abs(v)
			}
			v := float64(got[r*c.dstStride+column])
			off, _ := new(big.Float).Sub(sum, big.NewFloat(v)).Float64()
			if math.Abs(off) > 10.1*0x1p-24*size+0x1p-24*math.Abs(v) {
				t.Fatalf("row %d column %d is off by %g of %g", r, column, off, size)
			}
		}
	}
}

func TestMulSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var lengths []int
	for m := range 70 {
		lengths = append(lengths, m, r.IntN(9))
	}
	for _, level := range Levels() {
		for k := 1; k <= 40; k++ {
			t.Run(fmt.Sprintf("level=%v/k=%d", level, k), func(t *testing.T) {
				c := newSparseCase(r, t, lengths, 37, k)
				c.compare(t, level, 1000)
				c.compare(t, level, 3)
				if level == Generic {
					c.withinBounds(t)
				}
				for _, lengths := range [][]int{nil, {0}, {0, 0, 0}, {1}, {5, 0, 0}} {
					newSparseCase(r, t, lengths, 5, k).compare(t, level, 2)
				}
			})
		}
	}
}

// A row that loses almost as much to rounding as the bound allows: additions to the first
// entries of a block are lost entirely, and the first products are rounded down by almost a
// unit.
func TestMulSparseWorst(t *testing.T) {
	for _, entries := range []int{sumBlock, 50 * sumBlock} {
		c := &sparseCase{k: 1, stride: 1, dstStride: 1, ptr: []uint64{0, uint64(entries)}}
		for p := range entries {
			val, x := float32(1), float32(0x1p-25-0x1p-45)
			switch p % sumBlock {
			case 0, 1:
				val, x = 1+0x1p-12, 1+0x1p-12-0x1p-23 // the product is just below 1 + 2^-11 - 2^-24
			case 2, 3:
				x = 0
			}
			c.ind, c.val, c.x = append(c.ind, uint32(p)), append(c.val, val), append(c.x, x)
		}
		c.withinBounds(t)
		exact, size := 0.0, 0.0
		for p, v := range c.val {
			exact += float64(v) * float64(c.x[p])
			size += math.Abs(float64(v) * float64(c.x[p]))
		}
		for _, level := range Levels() {
			got := float64(c.at(t, level, 1)[0])
			if lost := exact - got; lost < 7.9*0x1p-24*size {
				t.Errorf("%v: a row that should lose much loses %g of 2^-24", level, lost/size*0x1p24)
			}
		}
	}
}

func TestMulSparseLong(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, level := range Levels() {
		for _, k := range []int{1, 2, 3, 4, 8, 16, 32, 33} {
			t.Run(fmt.Sprintf("level=%v/k=%d", level, k), func(t *testing.T) {
				c := newSparseCase(r, t, []int{3, 70_001, 0, 5000}, 1000, k)
				c.compare(t, level, 10)
				if level == Generic && k < 4 {
					c.withinBounds(t)
				}
			})
		}
	}
}

// Columns up to the largest uint32 address the right rows: none is treated as signed.
func TestMulSparseFarColumns(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no room")
	}
	far := uint32(1<<31 + 5)
	base := lazily(t, 4*(uint64(far)+1))
	base[far] = 3
	for _, s := range All() {
		got := make([]float32, 1)
		s.MulSparse(RowsOf(got, 1), 1, []uint64{0, 5}, []uint32{0, 1, far, far, far}, []float32{1, 1, 1, 1, 2}, RowsOf(base, 1))
		if got[0] != 12 {
			t.Errorf("%v: %v, want 12", s, got[0])
		}
		single := make([]float32, 1)
		s.MulSparse(RowsOf(single, 1), 1, []uint64{0, 6}, []uint32{0, 1, far, far, far, far}, []float32{1, 1, 1, 1, 2, 1}, RowsOf(base, 1))
		if single[0] != 15 {
			t.Errorf("%v: float32: %v, want 15", s, single[0])
		}
	}
}

// Rows of x may be more than 4 GiB apart.
func TestMulSparseFarStride(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("no room")
	}
	stride := 1<<30 + 5
	x := lazily(t, 4*(uint64(stride)+64))
	ptr, ind, val := []uint64{0, 2}, []uint32{0, 1}, []float32{1, 2}
	base, off, half := []uint32{0}, []uint16{0, 1}, []uint16{Float16(1), Float16(2)}
	for _, k := range []int{1, 2, 3, 4, 8, 16, 32} {
		x[stride+k-1] = 3
		for _, s := range All() {
			plain, short, short16 := make([]float32, k), make([]float32, k), make([]float32, k)
			s.MulSparse(RowsOf(plain, k), k, ptr, ind, val, RowsOf(x, stride))
			s.MulSparseOffsets(RowsOf(short, k), k, ptr, base, off, val, RowsOf(x, stride))
			s.MulSparseOffsets16(RowsOf(short16, k), k, ptr, base, off, half, RowsOf(x, stride))
			if plain[k-1] != 6 || short[k-1] != 6 || short16[k-1] != 6 {
				t.Errorf("%v, k = %d: %v, %v and %v, want 6", s, k, plain[k-1], short[k-1], short16[k-1])
			}
		}
		x[stride+k-1] = 0
	}
}

// Rows of x that are far apart are prefetched. The last rows have nothing to prefetch.
func TestMulSparseWide(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, level := range Levels() {
		for _, k := range []int{16, 32, 33} {
			const cols = 1 << 16
			c := newSparseCase(r, t, []int{0, 1, 9, 64, 70, 33, 0, 65, 100, 3, 4, 40}, cols, k)
			for i := range c.rows() {
				if row := c.ind[c.ptr[i]:c.ptr[i+1]]; len(row) > 1 {
					row[0], row[len(row)-1] = 0, cols-1
				}
			}
			c.compare(t, level, 5)
		}
	}
}

func TestMulSparseNonFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	r := rand.New(rand.NewPCG(5, 6))
	for _, level := range Levels() {
		for _, k := range []int{1, 2, 3, 4, 8, 16, 32, 40} {
			c := newSparseCase(r, t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 30}, 8, k)
			for _, v := range []float32{inf, -inf, nan, math.MaxFloat32, 1e-40, float32(math.Copysign(0, -1))} {
				for p := range c.val {
					if r.IntN(6) == 0 {
						c.val[p] = v
					}
				}
				for i := range c.x {
					if r.IntN(10) == 0 {
						c.x[i] = v
					}
				}
				c.compare(t, level, 4)
			}
		}
	}
}

// A column has the same bits whatever other columns are computed with it.
func TestMulSparseColumnsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range All() {
		c := newSparseCase(r, t, []int{0, 3, 17, 40, 129}, 50, 47)
		all := c.with(t, s, 10)
		for column := range c.k {
			one := make([]float32, c.rows())
			s.MulSparse(RowsOf(one, 1), 1, c.ptr, c.ind, c.val, RowsOf(c.x[column:], c.stride))
			for i := range one {
				if want := all[i*c.dstStride+column]; one[i] != want {
					t.Fatalf("%v: row %d column %d: alone %v, else %v", s, i, column, one[i], want)
				}
			}
		}
	}
}

func TestMulSparsePanics(t *testing.T) {
	s := At(Best())
	ptr, ind, val, x := []uint64{0, 2, 3}, []uint32{0, 1, 0}, make([]float32, 3), make([]float32, 8)
	for name, f := range map[string]func(){
		"short dst":    func() { s.MulSparse(RowsOf(make([]float32, 7), 4), 4, ptr, ind, val, RowsOf(x, 4)) },
		"stride":       func() { s.MulSparse(RowsOf(make([]float32, 8), 4), 4, ptr, ind, val, RowsOf(x, 3)) },
		"dst stride":   func() { s.MulSparse(RowsOf(make([]float32, 8), 3), 4, ptr, ind, val, RowsOf(x, 4)) },
		"short val":    func() { s.MulSparse(RowsOf(make([]float32, 8), 4), 4, ptr, ind, val[:2], RowsOf(x, 4)) },
		"short ind":    func() { s.MulSparse(RowsOf(make([]float32, 8), 4), 4, ptr, ind[:2], val, RowsOf(x, 4)) },
		"short x":      func() { s.MulSparse(RowsOf(make([]float32, 8), 4), 4, ptr, ind, val, RowsOf(x[:3], 4)) },
		"negative k":   func() { s.MulSparse(Rows[float32]{}, -1, ptr, ind, val, RowsOf(x, 4)) },
		"huge strides": func() { s.MulSparse(RowsOf(make([]float32, 8), math.MaxInt), 4, ptr, ind, val, RowsOf(x, 4)) },
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
