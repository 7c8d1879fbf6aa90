package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// spread returns a matrix with rows of all lengths and spans: empty, of one
// column, as wide as an offset reaches and one wider. One row in 64 is wide, and so are
// the first, the last and some adjacent ones.
func spread(t testing.TB, rows, cols int) *CSR {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	ptr, ind, val := []uint64{0}, []uint32(nil), []float32(nil)
	add := func(column int) {
		ind, val = append(ind, uint32(column)), append(val, float32(r.NormFloat64()))
	}
	for i := range rows {
		column := r.IntN(cols - 70_000)
		switch {
		case i == 0 || i == rows-1 || i%64 == 5 || i >= 500 && i < 505:
			add(column)
			add(column + 7)
			add(column + 1<<16 + i%3)
		case i%64 == 9:
			add(column)
			add(column + 1<<16 - 1)
		case i%64 == 11:
			add(column)
		default:
			for range r.IntN(80) * (i % 3) {
				add(column)
				column += 1 + r.IntN(20)
				if r.IntN(9) == 0 {
					column += r.IntN(500)
				}
			}
		}
		ptr = append(ptr, uint64(len(ind)))
	}
	a, err := New(rows, cols, ptr, ind, val)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func dense(rows, k int) blas32.General {
	x := blas32.General{Rows: rows, Cols: k, Stride: k, Data: make([]float32, rows*k)}
	for i := range x.Data {
		x.Data[i] = float32(i%13) - 6.25
	}
	return x
}

func TestLayouts(t *testing.T) {
	ctx := context.Background()
	workers := par.New(2)
	defer workers.Close()
	a := spread(t, 3000, 200_000)
	if a.Layout() != Plain {
		t.Fatalf("New made %v", a.Layout())
	}
	for _, layout := range []Layout{Plain, Compact, Compact16} {
		b, err := a.Convert(ctx, workers, layout)
		if err != nil {
			t.Fatal(err)
		}
		relative, absolute := b.ValueError()
		if b.Layout() != layout || b.NNZ() != a.NNZ() || (relative == 0) != (layout != Compact16) {
			t.Fatalf("%v: %v with %d entries, error %g and %g", layout, b.Layout(), b.NNZ(), relative, absolute)
		}
		if layout != Plain && b.Size() >= a.Size() || b.Streamed() > b.Size() {
			t.Errorf("%v takes %d bytes and reads %d, plain takes %d", layout, b.Size(), b.Streamed(), a.Size())
		}
		var buffer RowBuffer
		for i := range a.Rows() {
			ind, val := b.Row(i, &buffer)
			want, given := a.Row(i, nil)
			if !slices.Equal(ind, want) || len(val) != b.RowLen(i) {
				t.Fatalf("%v: row %d has other columns", layout, i)
			}
			for p, v := range given {
				if e := math.Abs(float64(val[p]) - float64(v)); e > max(relative*math.Abs(float64(v)), absolute) {
					t.Fatalf("%v: row %d: %g is %g", layout, i, v, val[p])
				}
			}
		}
		back, err := b.Convert(ctx, nil, Plain)
		if err != nil || !sameEntries(back, a, layout != Compact16) {
			t.Fatalf("%v does not come back: %v", layout, err)
		}
		for _, k := range []int{1, 2, 3, 8, 32} {
			x := dense(a.Cols(), k)
			got, want := dense(a.Rows(), k), dense(a.Rows(), k)
			for _, kernels := range simd.All() {
				if err := errors.Join(b.MulTo(ctx, workers, kernels, got, x), back.MulTo(ctx, nil, simd.At(simd.Generic), want, x)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Data, want.Data) {
					t.Fatalf("%v, %v, k = %d: another product than plain", layout, kernels, k)
				}
			}
			sums, sumsWant := make([]float64, 100), make([]float64, 100)
			s := simd.At(simd.Best())
			b.SumRows(s, sums, 450, 550)
			back.SumRows(s, sumsWant, 450, 550)
			if !slices.Equal(sums, sumsWant) {
				t.Fatalf("%v: other sums than plain", layout)
			}
			// Runs that begin and end between wide rows.
			for lo := 498; lo < 508; lo++ {
				for hi := lo; hi < 508; hi++ {
					piece := make([]float32, max(hi-lo, 1)*k)
					b.MulRows(s, piece, k, lo, hi, k, x.Data, k)
					if !slices.Equal(piece[:(hi-lo)*k], want.Data[lo*k:hi*k]) {
						t.Fatalf("%v: rows %d to %d are others than plain", layout, lo, hi)
					}
				}
			}
		}
	}
}

// Exactly the rows with a span of 2^16 or more are wide.
func TestWideRows(t *testing.T) {
	a := spread(t, 3000, 200_000)
	b, err := a.Convert(context.Background(), nil, Compact)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Rows() {
		row, _ := a.Row(i, nil)
		want := len(row) > 0 && row[len(row)-1]-row[0] >= 1<<16
		if run := b.partOf(i).run(i); (run != nil) != want || want && (i < run.lo || i >= run.hi) {
			t.Fatalf("row %d with the columns %v is in %v", i, row, run)
		}
		if got := b.partOf(i).columns(nil, i); !slices.Equal(got, row) {
			t.Fatalf("row %d: columns %v, want %v", i, got, row)
		}
	}
	if first, last := b.partOf(0).run(0), b.partOf(a.Rows()-1).run(a.Rows()-1); first.lo != 0 || last.hi != a.Rows() || b.partOf(500).run(500).hi != 505 {
		t.Errorf("runs from %d to %d", first.lo, last.hi)
	}
}

// A matrix most of whose rows are wide has no compact layout.
func TestNoCompactLayout(t *testing.T) {
	ctx := context.Background()
	const rows, m, cols = 3000, 16, 200_000
	ptr, ind := make([]uint64, rows+1), make([]uint32, rows*m)
	for i := range rows {
		for e := range m {
			ind[i*m+e] = uint32(i + 9000*e)
		}
		ptr[i+1] = uint64((i + 1) * m)
	}
	a := mustNew(t, rows, cols, ptr, ind, make([]float32, rows*m))
	for _, layout := range []Layout{Compact, Compact16} {
		if _, err := a.Convert(ctx, nil, layout); !errors.Is(err, ErrRange) {
			t.Errorf("%v: %v", layout, err)
		}
	}
	if b, err := a.Convert(ctx, nil, Auto); err != nil || b.Layout() != Plain || b.NNZ() != a.NNZ() {
		t.Errorf("auto: %v, %v", b, err)
	}
}

// Sums take a buffer for all rows, not one for each.
func TestSumRowsAllocations(t *testing.T) {
	a := spread(t, 3000, 200_000)
	sums := make([]float64, a.Rows())
	for _, layout := range []Layout{Plain, Compact, Compact16} {
		b, err := a.Convert(context.Background(), nil, layout)
		if err != nil {
			t.Fatal(err)
		}
		if got := testing.AllocsPerRun(3, func() { b.SumRows(simd.At(simd.Best()), sums, 0, b.Rows()) }); got > 100 {
			t.Errorf("%v: %v allocations for %d rows", layout, got, b.Rows())
		}
	}
}

// A cancelled conversion returns no matrix, half of which would be zeros.
func TestConvertCancelled(t *testing.T) {
	a := spread(t, 3000, 200_000)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, from := range []Layout{Plain, Compact, Compact16} {
		b, err := a.Convert(context.Background(), nil, from)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []Layout{Plain, Compact, Compact16} {
			if from == to {
				continue
			}
			if c, err := b.Convert(cancelled, nil, to); c != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%v to %v: a matrix is %v, %v", from, to, c != nil, err)
			}
		}
	}
}

// Layouts agree with Plain for any shape.
func FuzzLayouts(f *testing.F) {
	f.Add(uint64(1), []byte{0, 3, 200, 255, 1}, uint8(2))
	f.Add(uint64(2), []byte{255}, uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, shape []byte, columns uint8) {
		ctx := context.Background()
		r := rand.New(rand.NewPCG(seed, 3))
		const cols = 1 << 17
		ptr, ind, val := []uint64{0}, []uint32(nil), []float32(nil)
		for _, s := range shape {
			// The high bits are the length of a row, the low ones its steps.
			column := r.IntN(1 << 15)
			for range s >> 3 {
				if column >= cols {
					break
				}
				ind, val = append(ind, uint32(column)), append(val, r.Float32()-0.5)
				column += 1 + r.IntN(1<<(2*(s&7)))
			}
			ptr = append(ptr, uint64(len(ind)))
		}
		a := mustNew(t, len(shape), cols, ptr, ind, val)
		k := 1 + int(columns)%40
		x := dense(cols, k)
		for _, layout := range []Layout{Auto, Compact, Compact16} {
			b, err := a.Convert(ctx, nil, layout)
			if err != nil {
				if layout == Auto || !errors.Is(err, ErrRange) {
					t.Fatal(err)
				}
				continue
			}
			back, err := b.Convert(ctx, nil, Plain)
			if err != nil || !sameEntries(back, a, layout != Compact16) {
				t.Fatalf("%v does not come back: %v", layout, err)
			}
			got, want := dense(a.Rows(), k), dense(a.Rows(), k)
			if err := errors.Join(b.MulTo(ctx, nil, nil, got, x), back.MulTo(ctx, nil, nil, want, x)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Data, want.Data) {
				t.Fatalf("%v: another product than plain", layout)
			}
		}
	})
}

// Methods built on Row work in every layout.
func TestLayoutsElsewhere(t *testing.T) {
	ctx := context.Background()
	a := mustNew(t, 3, 3, []uint64{0, 2, 3, 4}, []uint32{0, 1, 0, 2}, []float32{1, 2, 2, 4})
	for _, layout := range []Layout{Plain, Compact, Compact16} {
		b, err := a.Convert(ctx, nil, layout)
		if err != nil {
			t.Fatal(err)
		}
		if !b.IsSymmetric() || b.At(1, 0) != 2 || b.At(1, 1) != 0 || b.ToDense().At(2, 2) != 4 {
			t.Errorf("%v: %v", layout, b.ToDense())
		}
		p, err := b.Permute([]uint32{2, 0, 1})
		if err != nil || p.At(0, 0) != 4 || p.At(1, 2) != 2 {
			t.Errorf("%v: permuted %v, %v", layout, p, err)
		}
	}
	skew := mustNew(t, 2, 2, []uint64{0, 1, 1}, []uint32{1}, []float32{1})
	if c, err := skew.Convert(ctx, nil, Compact); err != nil || c.IsSymmetric() {
		t.Errorf("symmetric, %v", err)
	}
	for v, want := range map[float32]error{65519: nil, -65519: nil, 65520: ErrRange, -65520: ErrRange, 70000: ErrRange} {
		if _, err := mustNew(t, 1, 1, []uint64{0, 1}, []uint32{0}, []float32{v}).Convert(ctx, nil, Compact16); !errors.Is(err, want) {
			t.Errorf("%g in 16 bits: %v, want %v", v, err, want)
		}
	}
	if _, err := a.Convert(ctx, nil, Layout(9)); err == nil {
		t.Error("no error for layout 9")
	}
	if empty, err := mustNew(t, 0, 0, []uint64{0}, nil, nil).Convert(ctx, nil, Compact); err != nil || empty.NNZ() != 0 || empty.Layout() != Compact {
		t.Errorf("empty: %v, %v", empty, err)
	}
}

func TestAdopt(t *testing.T) {
	ptr, ind, val := []uint64{0, 1, 2}, []uint32{1, 0}, []float32{3, 4}
	for _, layout := range []Layout{Auto, Plain, Compact} {
		a, err := Adopt(context.Background(), nil, layout, 2, 2, ptr, ind, val)
		if err != nil || a.At(0, 1) != 3 || layout != Auto && a.Layout() != layout {
			t.Errorf("%v: %v, %v", layout, a, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for lengths that do not fit")
		}
	}()
	_, _ = Adopt(context.Background(), nil, Plain, 3, 2, ptr, ind, val)
}

// Converting takes no more memory than Bytes says, including rows without entries.
func TestAdoptTakesNoMoreThanBytes(t *testing.T) {
	const rows = 300_000
	for _, nnz := range []int{0, rows} {
		ptr, ind, val := make([]uint64, rows+1), make([]uint32, nnz), make([]float32, nnz)
		for i := range rows {
			ptr[i+1] = uint64(min(i+1, nnz))
		}
		for _, layout := range []Layout{Plain, Compact, Compact16} {
			given, _ := Plain.Bytes(rows, uint64(nnz))
			most, _ := layout.Bytes(rows, uint64(nnz))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := Adopt(context.Background(), nil, layout, rows, 1, ptr, ind, val); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			const chunk = 1 << 10 // the bytes of a chunk in addition to its rows
			took := int64(after.TotalAlloc - before.TotalAlloc)
			if took > most-given+chunk*(rows/split.ChunkRows+1) {
				t.Errorf("%v with %d entries: %d bytes, want %d", layout, nnz, took, most-given)
			}
		}
	}
}

// A fault is found in a matrix that is large enough to be checked in parallel.
func TestNewFindsFaultsInLargeMatrices(t *testing.T) {
	const rows, m = 40_000, 16
	ptr, ind, val := make([]uint64, rows+1), make([]uint32, rows*m), make([]float32, rows*m)
	for i := range rows {
		for e := range m {
			ind[i*m+e] = uint32(i + 2*e)
		}
		ptr[i+1] = uint64((i + 1) * m)
	}
	try := func() error { _, err := New(rows, rows+2*m, ptr, ind, val); return err }
	if err := try(); err != nil {
		t.Fatal(err)
	}
	const at = 30_001 * m
	for name, fault := range map[string]struct {
		column uint32
		value  float32
		want   error
	}{
		"repeat":   {ind[at+1], 1, ErrStructure},
		"order":    {ind[at+1] + 1, 1, ErrStructure},
		"range":    {rows + 2*m, 1, ErrStructure},
		"largest":  {math.MaxUint32, 1, ErrStructure},
		"NaN":      {ind[at], float32(math.NaN()), points.ErrNonFinite},
		"infinite": {ind[at], float32(math.Inf(-1)), points.ErrNonFinite},
		"large":    {ind[at], -math.MaxFloat32, nil},
	} {
		column := ind[at]
		ind[at], val[at] = fault.column, fault.value
		if err := try(); !errors.Is(err, fault.want) {
			t.Errorf("%s: %v, want %v", name, err, fault.want)
		}
		ind[at], val[at] = column, 0
	}
}

func mustNew(t testing.TB, rows, cols int, ptr []uint64, ind []uint32, val []float32) *CSR {
	t.Helper()
	a, err := New(rows, cols, ptr, ind, val)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
