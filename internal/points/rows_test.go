package points

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

func TestNormalizeRows(t *testing.T) {
	tiny := float32(math.SmallestNonzeroFloat32)
	x := blas32.General{Rows: 4, Cols: 2, Stride: 3, Data: []float32{
		3, 4, -7,
		0, -2, -7,
		math.MaxFloat32, math.MaxFloat32, -7, // the float32 norm would overflow
		tiny, 0,
	}}
	half := float32(math.Sqrt(0.5))
	want := []float32{0.6, 0.8, 0, -1, half, half, 1, 0}

	dst := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: make([]float32, 8)}
	if err := NormalizeRows(dst, x); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dst.Data, want) {
		t.Errorf("got %v, want %v", dst.Data, want)
	}

	if err := NormalizeRows(x, x); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if got := x.Data[3*i : 3*i+2]; !slices.Equal(got, want[2*i:2*i+2]) {
			t.Errorf("in place, row %d: %v", i, got)
		}
		if i < 3 && x.Data[3*i+2] != -7 {
			t.Errorf("row %d: entry behind the row was written", i)
		}
	}
}

func TestNormalizeRowsErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		name     string
		data     []float32
		want     error
		row, col int
	}{
		{"zero", []float32{1, 2, 0, 0, 0, 0}, ErrZeroRow, 1, 0},
		{"negative zero", []float32{float32(math.Copysign(0, -1)), 0, 1, 1, 1, 1}, ErrZeroRow, 0, 0},
		{"nan", []float32{1, 2, 3, 4, 5, nan}, ErrNonFinite, 2, 1},
		{"inf", []float32{1, 2, inf, 4, 5, nan}, ErrNonFinite, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: slices.Clone(c.data)}
			err := NormalizeRows(x, x)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			row, col := -1, 0
			var entry *NonFiniteError
			var zero *ZeroRowError
			switch {
			case errors.As(err, &entry):
				row, col = entry.Row, entry.Col
			case errors.As(err, &zero):
				row = zero.Row
			}
			if row != c.row || col != c.col {
				t.Errorf("place %d, %d, want %d, %d", row, col, c.row, c.col)
			}
			for i, v := range x.Data {
				if math.Float32bits(v) != math.Float32bits(c.data[i]) {
					t.Errorf("entry %d was written", i)
				}
			}
		})
	}
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}}
	y := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{1, 2}}
	if err := NormalizeRows(y, x); !errors.Is(err, ErrShape) {
		t.Errorf("different shapes: %v", err)
	}
}

func TestNormalize(t *testing.T) {
	v := []float64{3, 4}
	if norm := Normalize(v); norm != 5 || !slices.Equal(v, []float64{0.6, 0.8}) {
		t.Errorf("norm %v, v %v", norm, v)
	}
	for _, e := range []float64{0, math.Inf(1)} {
		v := []float64{e}
		if norm := Normalize(v); norm != e || v[0] != e {
			t.Errorf("%v: norm %v, v %v", e, norm, v)
		}
	}
	v = []float64{math.NaN(), 1}
	if norm := Normalize(v); !math.IsNaN(norm) || v[1] != 1 {
		t.Errorf("NaN: norm %v, v %v", norm, v)
	}
}

func TestDims(t *testing.T) {
	for _, c := range []struct {
		name                       string
		rows, cols, stride, length int
		ok                         bool
	}{
		{"exact", 2, 3, 3, 6, true},
		{"last row needs no padding", 2, 3, 5, 8, true},
		{"one short", 2, 3, 5, 7, false},
		{"no rows", 0, 3, 3, 0, true},
		{"no columns", 3, 0, 0, 0, true},
		{"one row, nothing stored", 1, 3, 3, 0, false},
		{"stride below columns", 2, 3, 2, 100, false},
		{"negative rows", -1, 3, 3, 100, false},
		{"negative columns", 1, -3, 3, 100, false},
		{"product overflows", math.MaxInt, 4, 4, 100, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, k, err32 := Dims(blas32.General{Rows: c.rows, Cols: c.cols, Stride: c.stride, Data: make([]float32, c.length)})
			_, _, err64 := Dims(blas64.General{Rows: c.rows, Cols: c.cols, Stride: c.stride, Data: make([]float64, c.length)})
			if (err32 == nil) != c.ok || (err64 == nil) != c.ok {
				t.Fatalf("errors %v, %v, want ok=%v", err32, err64, c.ok)
			}
			if c.ok && (r != c.rows || k != c.cols) {
				t.Errorf("%d x %d", r, k)
			}
			if !c.ok && !errors.Is(err32, ErrShape) {
				t.Errorf("error %v", err32)
			}
		})
	}
}

func TestCheckFiniteIgnoresPadding(t *testing.T) {
	x := blas64.General{Rows: 2, Cols: 1, Stride: 2, Data: []float64{1, math.NaN(), 2}}
	if err := CheckFinite(x); err != nil {
		t.Error(err)
	}
	x.Data[2] = math.Inf(1)
	var entry *NonFiniteError
	if err := CheckFinite(x); !errors.As(err, &entry) || *entry != (NonFiniteError{What: "points", Row: 1, Col: 0}) {
		t.Errorf("error %v", err)
	}
}

// Rows of no columns need no memory, whatever their stride.
func TestCheckFiniteOfNoColumns(t *testing.T) {
	if err := CheckFinite(blas32.General{Rows: 3, Cols: 0, Stride: 2}); err != nil {
		t.Error(err)
	}
}

// Each entry is rounded, and entries after a row are not copied.
func TestSingle(t *testing.T) {
	x := blas64.General{Rows: 2, Cols: 2, Stride: 3, Data: []float64{1, 0.1, 7, -2, 1e300}}
	got := Single(x)
	want := []float32{1, 0.1, -2, float32(math.Inf(1))}
	if got.Rows != 2 || got.Cols != 2 || got.Stride != 2 || !slices.Equal(got.Data, want) {
		t.Errorf("%+v, want %v", got, want)
	}
}

func TestCheckSize(t *testing.T) {
	x := blas32.General{Rows: 2, Cols: 3, Stride: 4, Data: make([]float32, 7)}
	if err := CheckSize(x, 2, 3); err != nil {
		t.Error(err)
	}
	short := x
	short.Data = short.Data[:6]
	for name, err := range map[string]error{"rows": CheckSize(x, 3, 3), "columns": CheckSize(x, 2, 4), "swapped": CheckSize(x, 3, 2), "storage": CheckSize(short, 2, 3)} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
