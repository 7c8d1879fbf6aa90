package sparse

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/simd"
)

// spread returns a matrix with columns near each other and far apart, and rows
// of all lengths.
func spread(t testing.TB, rows, cols int) *CSR {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	ptr, ind, val := []uint64{0}, []uint32(nil), []float32(nil)
	for i := range rows {
		column := r.IntN(cols)
		for range r.IntN(80) * (i % 3) {
			if column >= cols {
				break
			}
			ind, val = append(ind, uint32(column)), append(val, float32(r.NormFloat64()))
			column += 1 + r.IntN(20)
			if r.IntN(9) == 0 {
				column += r.IntN(100_000)
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
	set := NewWorkers(2)
	defer set.Close()
	a := spread(t, 3000, 200_000)
	if a.Layout() != Plain {
		t.Fatalf("New made %v", a.Layout())
	}
	for _, layout := range []Layout{Plain, Compact, Compact16} {
		b, err := a.Convert(ctx, set, layout)
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
		if err != nil || !slices.Equal(back.ind, a.ind) || layout != Compact16 && !slices.Equal(back.val, a.val) {
			t.Fatalf("%v does not come back: %v", layout, err)
		}
		for _, k := range []int{1, 2, 3, 8, 32} {
			x := dense(a.Cols(), k)
			got, want := dense(a.Rows(), k), dense(a.Rows(), k)
			for _, level := range simd.Levels() {
				if err := errors.Join(b.MulTo(ctx, set, simd.At(level), got, x), back.MulTo(ctx, nil, simd.At(simd.Generic), want, x)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Data, want.Data) {
					t.Fatalf("%v, %v, k = %d: another product than plain", layout, level, k)
				}
			}
			sums, sumsWant := make([]float64, 100), make([]float64, 100)
			s := simd.At(simd.Best())
			b.SumRows(s, sums, 700, 800)
			back.SumRows(s, sumsWant, 700, 800)
			if !slices.Equal(sums, sumsWant) {
				t.Fatalf("%v: other sums than plain", layout)
			}
		}
	}
}

// What is built on Row works in every layout.
func TestLayoutsElsewhere(t *testing.T) {
	ctx := context.Background()
	a := mustNew(t, 3, 3, []uint64{0, 2, 3, 4}, []uint32{0, 1, 0, 2}, []float32{1, 2, 2, 4})
	for _, layout := range []Layout{Plain, Compact, Compact16} {
		b, err := a.Convert(ctx, nil, layout)
		if err != nil {
			t.Fatal(err)
		}
		if !b.IsSymmetric() || b.At(1, 0) != 2 || b.At(1, 1) != 0 || b.ToDense().At(2, 2) != 4 || b.ToJB().At(0, 1) != 2 {
			t.Errorf("%v: %v", layout, b.ToDense())
		}
		p, err := b.Permute([]uint32{2, 0, 1})
		if err != nil || p.At(0, 0) != 4 || p.At(1, 2) != 2 {
			t.Errorf("%v: permuted %v, %v", layout, p, err)
		}
		name, err := LayoutNamed(layout.String())
		if err != nil || name != layout {
			t.Errorf("%v is named %v, %v", layout, name, err)
		}
	}
	skew := mustNew(t, 2, 2, []uint64{0, 1, 1}, []uint32{1}, []float32{1})
	if c, err := skew.Convert(ctx, nil, Compact); err != nil || c.IsSymmetric() {
		t.Errorf("symmetric, %v", err)
	}
	if _, err := mustNew(t, 1, 1, []uint64{0, 1}, []uint32{0}, []float32{70000}).Convert(ctx, nil, Compact16); !errors.Is(err, ErrRange) {
		t.Errorf("70000 fits 16 bits: %v", err)
	}
	if _, err := a.Convert(ctx, nil, Layout(9)); err == nil {
		t.Error("there is a layout 9")
	}
	if _, err := LayoutNamed("square"); err == nil {
		t.Error("there is a layout named square")
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
		"NaN":      {ind[at], float32(math.NaN()), ErrNonFinite},
		"infinite": {ind[at], float32(math.Inf(-1)), ErrNonFinite},
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
