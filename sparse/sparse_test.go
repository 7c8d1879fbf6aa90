package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// drawCSR draws a matrix with empty rows, full rows and everything between.
func drawCSR(t *rapid.T, rows, cols int) *CSR {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	return randomCSR(rng, rows, cols, rapid.Float64Range(0, 1).Draw(t, "density"))
}

func randomCSR(rng *rand.Rand, rows, cols int, density float64) *CSR {
	var row, col []uint32
	var val []float64
	for i := range rows {
		share := density * rng.Float64() * 2
		for j := range cols {
			if rng.Float64() < share {
				row, col, val = append(row, uint32(i)), append(col, uint32(j)), append(val, float64(float32(rng.NormFloat64())))
			}
		}
	}
	rng.Shuffle(len(row), func(a, b int) {
		row[a], row[b], col[a], col[b], val[a], val[b] = row[b], row[a], col[b], col[a], val[b], val[a]
	})
	a, err := FromTriplets(rows, cols, row, col, val)
	if err != nil {
		panic(err)
	}
	return a
}

func randomBlock(rng *rand.Rand, rows, cols, stride int) blas32.General {
	m := blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

// MulTo agrees with gonum, for any k and stride. Package jb compares with james-bowman/sparse.
func TestMulToEqualsTheOracle(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 40).Draw(t, "cols")
		k := rapid.IntRange(1, 37).Draw(t, "k")
		a := drawCSR(t, rows, cols)
		rng := rand.New(rand.NewPCG(1, 2))
		x := randomBlock(rng, cols, k, k+rapid.IntRange(0, 3).Draw(t, "padding"))
		dst := randomBlock(rng, rows, k, k+rapid.IntRange(0, 3).Draw(t, "dst padding"))
		guard := slices.Clone(dst.Data)
		if err := a.MulTo(t.Context(), workers, nil, dst, x); err != nil {
			t.Fatalf("%v", err)
		}
		dense := mat.NewDense(cols, k, nil)
		for i := range cols {
			for c := range k {
				dense.Set(i, c, float64(x.Data[i*x.Stride+c]))
			}
		}
		var byGonum mat.Dense
		byGonum.Mul(a.ToDense(), dense)
		var size mat.Dense
		size.Mul(absolute(a.ToDense()), absolute(dense))
		for i := range rows {
			for c := range dst.Stride {
				got := dst.Data[i*dst.Stride+c]
				if c >= k {
					if got != guard[i*dst.Stride+c] {
						t.Fatalf("padding of row %d was written", i)
					}
					continue
				}
				if want := byGonum.At(i, c); math.Abs(float64(got)-want) > 0x1p-24*math.Abs(want)+10.1*0x1p-24*size.At(i, c)+1e-40 {
					t.Fatalf("(%d, %d) = %g, gonum has %g", i, c, got, want)
				}
			}
		}
	})
}

// absolute returns the matrix of absolute values.
func absolute(m *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, m)
	return &out
}

// A column of the product does not depend on its neighbours, on the number of
// workers or on the level, to the last bit.
func TestSameBitsForAnyWidthWorkersAndLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	a := randomCSR(rng, 900, 900, 0.3) // several chunks
	if a.Chunks() < 3 {
		t.Fatalf("%d chunks", a.Chunks())
	}
	x := randomBlock(rng, 900, 21, 21)
	var want []float32
	for _, count := range []int{1, 2, 8} {
		workers := par.New(count)
		dst := randomBlock(rng, 900, 21, 21)
		if err := a.MulTo(t.Context(), workers, nil, dst, x); err != nil {
			t.Fatal(err)
		}
		workers.Close()
		if want == nil {
			want = dst.Data
		} else if !slices.Equal(dst.Data, want) {
			t.Errorf("%d workers change the product", count)
		}
	}
	for c := range 21 {
		one := blas32.General{Rows: 900, Cols: 1, Stride: 21, Data: x.Data[c:]}
		dst := randomBlock(rng, 900, 1, 1)
		if err := a.MulTo(t.Context(), nil, nil, dst, one); err != nil {
			t.Fatal(err)
		}
		for i, v := range dst.Data {
			if v != want[i*21+c] {
				t.Fatalf("column %d alone differs in row %d", c, i)
			}
		}
	}
	for _, kernels := range simd.All() {
		dst := randomBlock(rng, 900, 21, 21)
		if err := a.MulTo(t.Context(), nil, kernels, dst, x); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(dst.Data, want) {
			t.Errorf("%v changes the product", kernels)
		}
	}
}

// MulRows adds up in the order it documents, for any range of rows and level, and
// so does SumRows.
func TestMulRowsAddsBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 30).Draw(t, "rows"), rapid.IntRange(1, 100).Draw(t, "cols")
		k := rapid.IntRange(1, 37).Draw(t, "k")
		a := drawCSR(t, rows, cols)
		x := randomBlock(rand.New(rand.NewPCG(1, 3)), cols, k, k+rapid.IntRange(0, 3).Draw(t, "padding"))
		lo := rapid.IntRange(0, rows).Draw(t, "lo")
		hi := rapid.IntRange(lo, rows).Draw(t, "hi")
		stride := k + rapid.IntRange(0, 3).Draw(t, "gap")
		for _, kernels := range simd.All() {
			dst, sums := make([]float32, (hi-lo)*stride), make([]float64, hi-lo)
			a.MulRows(kernels, dst, stride, lo, hi, k, x.Data, x.Stride)
			a.SumRows(kernels, sums, lo, hi)
			for i := lo; i < hi; i++ {
				ind, val := a.Row(i, nil)
				var chain [4]float64
				for e, v := range val {
					chain[e%4] += float64(v)
				}
				if got, want := sums[i-lo], (chain[0]+chain[2])+(chain[1]+chain[3]); got != want {
					t.Fatalf("%v: row %d sums to %v, want %v", kernels, i, got, want)
				}
				for c := range k {
					sum := 0.0
					for p := 0; p < len(ind); {
						var even, odd float32
						for end := min(p+32, len(ind)); p < end; p += 4 {
							var v [4]float32
							for e := range min(4, end-p) {
								v[e] = val[p+e] * x.Data[int(ind[p+e])*x.Stride+c]
							}
							even += v[0] + v[2]
							odd += v[1] + v[3]
						}
						sum += float64(even + odd)
					}
					if got := dst[(i-lo)*stride+c]; got != float32(sum) {
						t.Fatalf("%v: (%d, %d) = %v, want %v", kernels, i, c, got, float32(sum))
					}
				}
			}
		}
	})
}

func TestConversionsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawCSR(t, rapid.IntRange(1, 20).Draw(t, "rows"), rapid.IntRange(1, 20).Draw(t, "cols"))
		byDense, err := FromMatrix(a.ToDense())
		if err != nil {
			t.Fatalf("%v", err)
		}
		byAt, err := FromMatrix(a)
		if err != nil {
			t.Fatalf("%v", err)
		}
		byTranspose, err := FromMatrix(a.T().T())
		if err != nil {
			t.Fatalf("%v", err)
		}
		for name, b := range map[string]*CSR{"dense": byDense, "At": byAt, "transpose": byTranspose} {
			if !sameEntries(a, b, true) || a.cols != b.cols {
				t.Fatalf("%s: round trip changed the matrix", name)
			}
		}
	})
}

// sameEntries reports whether two matrices have the same columns in every row and, if
// asked, the same values.
func sameEntries(a, b *CSR, values bool) bool {
	if a.Rows() != b.Rows() || a.NNZ() != b.NNZ() {
		return false
	}
	var first, second RowBuffer
	for i := range a.Rows() {
		aInd, aVal := a.Row(i, &first)
		bInd, bVal := b.Row(i, &second)
		if !slices.Equal(aInd, bInd) || values && !slices.Equal(aVal, bVal) {
			return false
		}
	}
	return true
}

// A matrix in pieces equals the matrix in one piece, in any layout.
func TestAdoptRows(t *testing.T) {
	ctx := context.Background()
	a := spread(t, 3000, 200_000)
	var pieces []Rows
	rng := rand.New(rand.NewPCG(5, 5))
	for lo := 0; lo < a.Rows(); {
		hi := min(lo+1+rng.IntN(400), a.Rows())
		piece := Rows{Ptr: []uint64{0}}
		for i := lo; i < hi; i++ {
			ind, val := a.Row(i, nil)
			piece.Ind, piece.Val = append(piece.Ind, ind...), append(piece.Val, val...)
			piece.Ptr = append(piece.Ptr, uint64(len(piece.Ind)))
		}
		pieces, lo = append(pieces, piece), hi
	}
	x := dense(a.Cols(), 3)
	for _, layout := range []Layout{Auto, Compact, Compact16} {
		b, err := adoptRows(ctx, nil, layout, a.Cols(), pieces)
		if err != nil {
			t.Fatal(err)
		}
		want, err := a.Convert(ctx, nil, layout)
		if err != nil {
			t.Fatal(err)
		}
		if !sameEntries(b, want, true) || b.Rows() != a.Rows() || b.Cols() != a.Cols() || b.Layout() != want.Layout() || b.Chunks() != len(pieces) {
			t.Fatalf("%v: another matrix", layout)
		}
		got, product := dense(a.Rows(), 3), dense(a.Rows(), 3)
		if err := errors.Join(b.MulTo(ctx, nil, nil, got, x), want.MulTo(ctx, nil, nil, product, x)); err != nil {
			t.Fatal(err)
		}
		// Across pieces.
		some, sums, wantSums := make([]float32, 1000*3), make([]float64, 1000), make([]float64, 1000)
		s := simd.At(simd.Best())
		b.MulRows(s, some, 3, 1000, 2000, 3, x.Data, x.Stride)
		b.SumRows(s, sums, 1000, 2000)
		want.SumRows(s, wantSums, 1000, 2000)
		if !slices.Equal(got.Data, product.Data) || !slices.Equal(some, product.Data[3000:6000]) || !slices.Equal(sums, wantSums) {
			t.Errorf("%v: other products", layout)
		}
	}
	for _, ptr := range [][]uint64{{0, 2}, {1, 1}, {0}, nil} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a piece that does not fit was accepted: %v", ptr)
				}
			}()
			_, _ = adoptRows(ctx, nil, Plain, 3, []Rows{{Ptr: ptr, Ind: []uint32{1}, Val: []float32{1}}})
		}()
	}
}

func TestPermute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "n")
		a := drawCSR(t, n, n)
		perm := rapid.Permutation(indices(n)).Draw(t, "order")
		order := make([]uint32, n)
		for i, v := range perm {
			order[i] = uint32(v)
		}
		p, err := a.Permute(order)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if err := p.check(); err != nil {
			t.Fatalf("%v", err)
		}
		for i := range n {
			for j := range n {
				if p.At(i, j) != a.At(perm[i], perm[j]) {
					t.Fatalf("entry (%d, %d)", i, j)
				}
			}
		}
		undo, err := inverse(order)
		if err != nil {
			t.Fatalf("%v", err)
		}
		back, err := p.Permute(undo)
		if err != nil || !sameEntries(back, a, true) {
			t.Fatalf("the inverse does not undo it: %v", err)
		}
	})
	a := randomCSR(rand.New(rand.NewPCG(1, 1)), 3, 3, 1)
	for _, order := range [][]uint32{{0, 1}, {0, 1, 1}, {0, 1, 3}} {
		if _, err := a.Permute(order); err == nil {
			t.Errorf("%v was accepted as a permutation", order)
		}
	}
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestLayoutBytes(t *testing.T) {
	for layout, want := range map[Layout]int64{Auto: 8<<33 + 88, Plain: 8<<33 + 88, Compact: 11<<33 + 128, Compact16: 14<<33 + 128} {
		if b, ok := layout.Bytes(10, 1<<33); !ok || b != want {
			t.Errorf("Bytes(%v, 10, 2^33) = %d, %v", layout, b, ok)
		}
		if _, ok := layout.Bytes(10, math.MaxUint64/4); ok {
			t.Error("Bytes accepts an impossible size")
		}
		for _, rows := range []int{-1, math.MaxInt, math.MinInt} {
			if b, ok := layout.Bytes(rows, 0); ok && uint64(rows) > math.MaxUint32 {
				t.Errorf("%d rows take %d bytes", rows, b)
			}
		}
	}
}

func TestMalformedStructure(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		name       string
		rows, cols int
		ptr        []uint64
		ind        []uint32
		val        []float32
		want       error
	}{
		{"negative rows", -1, 2, []uint64{0}, nil, nil, points.ErrShape},
		{"negative columns", 1, -2, []uint64{0, 0}, nil, nil, points.ErrShape},
		{"pointers missing", 2, 2, []uint64{0, 1}, []uint32{0}, []float32{1}, ErrStructure},
		{"no pointers", 0, 2, nil, nil, nil, ErrStructure},
		{"values missing", 1, 2, []uint64{0, 1}, []uint32{0}, nil, ErrStructure},
		{"start", 1, 2, []uint64{1, 1}, []uint32{0}, []float32{1}, ErrStructure},
		{"end", 1, 2, []uint64{0, 2}, []uint32{0}, []float32{1}, ErrStructure},
		{"descending pointers", 2, 2, []uint64{0, 2, 1}, []uint32{0}, []float32{1}, ErrStructure},
		{"pointer beyond", 2, 2, []uint64{0, 1 << 60, 1}, []uint32{0}, []float32{1}, ErrStructure},
		{"column", 1, 2, []uint64{0, 1}, []uint32{2}, []float32{1}, ErrStructure},
		{"repeated column", 1, 3, []uint64{0, 2}, []uint32{1, 1}, []float32{1, 1}, ErrStructure},
		{"unsorted", 1, 3, []uint64{0, 2}, []uint32{2, 1}, []float32{1, 1}, ErrStructure},
		{"NaN", 1, 3, []uint64{0, 1}, []uint32{2}, []float32{nan}, points.ErrNonFinite},
		{"Inf", 1, 3, []uint64{0, 1}, []uint32{2}, []float32{inf}, points.ErrNonFinite},
	} {
		if _, err := New(c.rows, c.cols, c.ptr, c.ind, c.val); !errors.Is(err, c.want) {
			t.Errorf("%s: err = %v, want %v", c.name, err, c.want)
		}
	}
	for _, c := range []struct {
		rows, cols int
		row, col   []uint32
		val        []float64
		want       error
	}{
		{2, 2, []uint32{0}, []uint32{0, 1}, []float64{1}, points.ErrShape},
		{2, 2, []uint32{2}, []uint32{0}, []float64{1}, ErrStructure},
		{2, 2, []uint32{0}, []uint32{2}, []float64{1}, ErrStructure},
		{-2, 2, nil, nil, nil, points.ErrShape},
		{2, 2, []uint32{0}, []uint32{0}, []float64{1e300}, points.ErrNonFinite},
	} {
		if _, err := FromTriplets(c.rows, c.cols, c.row, c.col, c.val); !errors.Is(err, c.want) {
			t.Errorf("triplets %+v: err = %v", c, err)
		}
	}
}

func FuzzNew(f *testing.F) {
	f.Add(2, 3, []byte{0, 1, 2}, []byte{0, 2})
	f.Add(1, 1, []byte{0, 200}, []byte{9})
	f.Fuzz(func(t *testing.T, rows, cols int, ptrBytes, indBytes []byte) {
		ptr, ind, val := make([]uint64, len(ptrBytes)), make([]uint32, len(indBytes)), make([]float32, len(indBytes))
		for i, b := range ptrBytes {
			ptr[i] = uint64(b)
		}
		for i, b := range indBytes {
			ind[i] = uint32(b)
		}
		a, err := New(rows, cols, ptr, ind, val)
		if err != nil {
			return
		}
		// An accepted matrix can be used.
		if cols > 0 && cols < 1000 {
			x := blas32.General{Rows: cols, Cols: 1, Stride: 1, Data: make([]float32, cols)}
			dst := blas32.General{Rows: rows, Cols: 1, Stride: 1, Data: make([]float32, rows)}
			if err := a.MulTo(t.Context(), nil, nil, dst, x); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestMulToRefusesWrongShapes(t *testing.T) {
	a := randomCSR(rand.New(rand.NewPCG(1, 1)), 4, 3, 1)
	block := func(rows, cols, stride, data int) blas32.General {
		return blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, data)}
	}
	for _, c := range []struct{ dst, x blas32.General }{
		{block(4, 2, 2, 8), block(4, 2, 2, 8)},
		{block(3, 2, 2, 6), block(3, 2, 2, 6)},
		{block(4, 1, 1, 4), block(3, 2, 2, 6)},
		{block(4, 2, 1, 8), block(3, 2, 2, 6)},
		{block(4, 2, 2, 7), block(3, 2, 2, 6)},
		{block(4, 2, 2, 8), block(3, 2, 2, 5)},
		{block(4, 0, 0, 0), block(3, 0, 0, 0)},
	} {
		if err := a.MulTo(t.Context(), nil, nil, c.dst, c.x); !errors.Is(err, points.ErrShape) {
			t.Errorf("dst %+v, x %+v: err = %v", c.dst, c.x, err)
		}
	}
	shared := make([]float32, 8)
	if err := a.MulTo(t.Context(), nil, nil, blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: shared[:4]}, blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: shared[3:6]}); !errors.Is(err, ErrAlias) {
		t.Errorf("err = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.MulTo(ctx, nil, nil, block(4, 1, 1, 4), block(3, 1, 1, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestIsSymmetric(t *testing.T) {
	for _, c := range []struct {
		m    *mat.Dense
		want bool
	}{
		{mat.NewDense(2, 2, []float64{0, 1, 1, 0}), true},
		{mat.NewDense(2, 2, []float64{0, 1, 2, 0}), false},
		{mat.NewDense(2, 2, []float64{0, 1, 0, 0}), false},
		{mat.NewDense(3, 3, []float64{1, 2, 0, 2, 0, 5, 0, 5, 0}), true},
		{mat.NewDense(3, 3, []float64{1, 2, 0, 2, 0, 5, 7, 5, 0}), false},
		{mat.NewDense(2, 3, []float64{0, 1, 0, 1, 0, 0}), false},
	} {
		a, err := FromMatrix(c.m)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.IsSymmetric(); got != c.want {
			t.Errorf("%v: %v", mat.Formatted(c.m), got)
		}
	}
}
