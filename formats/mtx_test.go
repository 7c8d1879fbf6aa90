package formats

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestReadTriplets(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       Triplets
	}{
		{"real.mtx", "%%MatrixMarket matrix coordinate real general\n% comment\n\n2 3 2\n1 3 1.5\n 2\t1  -2e-3 \n",
			Triplets{2, 3, []uint32{0, 1}, []uint32{2, 0}, []float64{1.5, -2e-3}}},
		{"integer.mtx", "%%matrixmarket MATRIX Coordinate Integer General\r\n1 1 1\r\n1 1 -7",
			Triplets{1, 1, []uint32{0}, []uint32{0}, []float64{-7}}},
		{"pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2",
			Triplets{2, 2, []uint32{0, 1}, []uint32{0, 1}, []float64{1, 1}}},
		{"symmetric.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 4\n",
			Triplets{2, 2, []uint32{0, 1, 0}, []uint32{0, 0, 1}, []float64{3, 4, 4}}},
		{"skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n",
			Triplets{2, 2, []uint32{1, 0}, []uint32{0, 1}, []float64{4, -4}}},
		{"large.mtx", "%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 1\n1000000000 1 1\n",
			Triplets{1e9, 1e9, []uint32{1e9 - 1}, []uint32{0}, []float64{1}}},
		{"a.mtx.gz", string(packed(t, []byte("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.1\n"))),
			Triplets{1, 1, []uint32{0}, []uint32{0}, []float64{0.1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadTriplets(put(t, c.name, []byte(c.file)))
			if err != nil || !reflect.DeepEqual(got, &c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	for name, want := range map[string]Triplets{
		"general.mtx":   {3, 4, []uint32{0, 0, 1, 2}, []uint32{0, 3, 2, 1}, []float64{-1, -0.25, 0.5, 1.25}},
		"symmetric.mtx": {3, 3, []uint32{0, 1, 0, 2, 1, 2}, []uint32{0, 0, 1, 1, 2, 2}, []float64{1, 2, 2, 3, 3, 4}},
	} {
		got, err := ReadTriplets(golden(name))
		if err != nil || !reflect.DeepEqual(got, &want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

const realBanner = "%%MatrixMarket matrix coordinate real general\n"

var refusedTriplets = []hostile{
	{"empty", nil, ErrTruncated, nil},
	{"no banner", []byte("2 2 0\n"), ErrFormat, []string{"line 1", "MatrixMarket"}},
	{"short banner", []byte("%%MatrixMarket matrix coordinate real\n"), ErrFormat, []string{"line 1"}},
	{"vector", []byte("%%MatrixMarket vector coordinate real general\n"), ErrUnsupported, []string{"line 1", "word 2", "matrix"}},
	{"array", []byte("%%MatrixMarket matrix array real general\n1 1\n1\n"), ErrUnsupported, []string{"line 1", "word 3", "coordinate", "sparse"}},
	{"complex", []byte("%%MatrixMarket matrix coordinate complex general\n"), ErrUnsupported, []string{"line 1", "word 4", "real, integer or pattern"}},
	{"hermitian", []byte("%%MatrixMarket matrix coordinate real hermitian\n"), ErrUnsupported, []string{"line 1", "word 5", "general, symmetric or skew-symmetric"}},
	{"skew pattern", []byte("%%MatrixMarket matrix coordinate pattern skew-symmetric\n"), ErrFormat, nil},
	{"no size", []byte(realBanner + "% only this\n"), ErrTruncated, nil},
	{"size of two", []byte(realBanner + "2 2\n"), ErrFormat, []string{"line 2"}},
	{"negative size", []byte(realBanner + "-2 2 1\n"), ErrFormat, []string{"line 2"}},
	{"huge rows", []byte(realBanner + "4294967296 1 0\n"), ErrUnsupported, []string{"line 2", "too large"}},
	{"huge columns", []byte(realBanner + "1 4294967296 0\n"), ErrUnsupported, []string{"line 2", "too large"}},
	{"huge entries", []byte(realBanner + "1 1 9000000000000000000\n"), ErrUnsupported, []string{"too large"}},
	{"many entries", []byte(realBanner + "1 1 100000000\n1 1 1\n"), ErrTruncated, []string{"line 2", "room"}},
	{"symmetric not square", []byte("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n"), ErrFormat, []string{"line 2"}},
	{"too few", []byte(realBanner + "2 2 2\n1 1 1\n"), ErrTruncated, []string{"line 3", "line 2 announces more"}},
	{"too many", []byte(realBanner + "2 2 1\n1 1 1\n2 2 2\n"), ErrFormat, []string{"line 4", "line 2 announces"}},
	{"zero index", []byte(realBanner + "2 2 1\n0 1 1\n"), ErrFormat, []string{"line 3"}},
	{"outside", []byte(realBanner + "2 2 1\n1 3 1\n"), ErrFormat, []string{"line 3", "counted from 1"}},
	{"fraction index", []byte(realBanner + "2 2 1\n1.0 1 1\n"), ErrFormat, []string{"line 3"}},
	{"long index", []byte(realBanner + "2 2 1\n99999999999999999999 1 1\n"), ErrFormat, []string{"line 3"}},
	{"no value", []byte(realBanner + "2 2 1\n1 1\n"), ErrFormat, []string{"line 3", "2 fields"}},
	{"two values", []byte(realBanner + "2 2 1\n1 1 1 1 1\n"), ErrFormat, []string{"line 3", "5 fields"}},
	{"nan", []byte(realBanner + "2 2 1\n1 1 nan\n"), ErrFormat, []string{"line 3"}},
	{"overflow", []byte(realBanner + "2 2 1\n1 1 1e999\n"), ErrRange, []string{"line 3"}},
	{"above diagonal", []byte("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n"), ErrFormat, []string{"line 3", "diagonal"}},
	{"skew diagonal", []byte("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n"), ErrFormat, []string{"line 3", "diagonal"}},
}

func TestReadTripletsRefused(t *testing.T) {
	for _, c := range refusedTriplets {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, "m.mtx", c.file)
			got, err := ReadTriplets(path)
			wantError(t, err, c.kind, path, c.parts...)
			if got != nil {
				t.Error("a matrix and an error")
			}
		})
	}
}

// TestTripletsLimit writes and reads the largest matrix, and refuses to write a larger one.
func TestTripletsLimit(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("int has 32 bits")
	}
	limit := int(min(math.MaxInt, math.MaxUint32))
	path := filepath.Join(t.TempDir(), "m.mtx")
	want := &Triplets{limit, limit, []uint32{math.MaxUint32 - 1}, []uint32{math.MaxUint32 - 1}, []float64{1}}
	if err := WriteTriplets(t.Context(), path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTriplets(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	wantError(t, WriteTriplets(t.Context(), path, &Triplets{Rows: limit + 1, Cols: 1}), ErrShape, path)
	wantError(t, WriteTriplets(t.Context(), path, &Triplets{Rows: 1, Cols: limit + 1}), ErrShape, path)
}

func TestWriteTriplets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mtx")
	want := &Triplets{3, 2, []uint32{2, 0, 2}, []uint32{1, 0, 1}, []float64{0.1, -math.MaxFloat64, 0x1p-1074}}
	if err := WriteTriplets(t.Context(), path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTriplets(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for kind, bad := range map[error]*Triplets{
		ErrRange: {1, 1, []uint32{0}, []uint32{0}, []float64{math.NaN()}},
		ErrShape: {1, 1, []uint32{0}, []uint32{1}, []float64{1}},
	} {
		wantError(t, WriteTriplets(t.Context(), path, bad), kind, path, "entry 1")
	}
	wantError(t, WriteTriplets(t.Context(), path, &Triplets{Rows: 1, Cols: 1, Val: []float64{1}}), ErrShape, path)
	if !strings.HasPrefix(string(load(t, path)), "%%MatrixMarket") {
		t.Error("a refused matrix replaced the file")
	}
}

// A sparse matrix reads back from a .mtx with the same bits, row by row.
func TestWriteCSRAsText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mtx")
	m := &CSR{Rows: 3, Cols: 4, Ptr: []uint64{0, 2, 2, 3}, Ind: []uint32{0, 3, 1}, Val: []float32{0.1, -3, math.SmallestNonzeroFloat32}}
	if err := WriteCSR(t.Context(), path, m); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTriplets(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &Triplets{Rows: 3, Cols: 4, Row: []uint32{0, 0, 2}, Col: m.Ind}
	if got.Rows != 3 || got.Cols != 4 || !slices.Equal(got.Row, want.Row) || !slices.Equal(got.Col, want.Col) {
		t.Errorf("%v, want %v", got, want)
	}
	for p, v := range got.Val {
		if float32(v) != m.Val[p] {
			t.Errorf("entry %d: %g, want %g", p, v, m.Val[p])
		}
	}
	m.Val[1] = float32(math.NaN())
	wantError(t, WriteCSR(t.Context(), path, m), ErrRange, path, "entry 2")
	m.Val[1], m.Ptr[1], m.Ptr[2] = 1, 3, 1
	wantError(t, WriteCSR(t.Context(), path, m), ErrShape, path)
	if again, err := ReadTriplets(path); err != nil || len(again.Val) != 3 {
		t.Errorf("a refused matrix changed the file: %v", err)
	}
}
