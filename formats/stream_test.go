package formats

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allRows reads the remaining rows, some at a time.
func allRows(r *RowReader, atOnce int) (data []float32, err error) {
	block := make([]float32, atOnce*max(r.Cols, 1))
	for {
		n, err := r.Read(block)
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		data = append(data, block[:n*r.Cols]...)
	}
}

// checkStream reads input row by row, and compares the result or the error with that of
// readDense.
func checkStream(t *testing.T, input []byte, f format) {
	t.Helper()
	want, wantErr := readDense[float32](memory(input), f)
	r, err := newRowReader(memory(input), f)
	var got []float32
	if err == nil && r.Cols <= 1<<16 { // a row has to fit
		got, err = allRows(r, 3)
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("row by row: %v, as a whole: %v", err, wantErr)
	}
	if err != nil {
		checkError(t, err)
		return
	}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	if r.Rows != want.rows || r.Cols != want.cols || !slices.EqualFunc(got, want.data, same) {
		t.Fatalf("row by row: %d x %d, as a whole %d x %d, or other values", r.Rows, r.Cols, want.rows, want.cols)
	}
}

// Every file that ReadMatrix reads can be read row by row, with the same values.
func TestStreamMatrix(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, entry := range files {
		path := golden(entry.Name())
		m, err := ReadMatrix(path)
		if err != nil {
			if err := StreamMatrix(path, 0, func(r *RowReader) error { _, err := allRows(r, 1); return err }); err == nil {
				t.Errorf("%s: read row by row, but not as a whole", path)
			}
			continue
		}
		read++
		for _, atOnce := range []int{1, 2, 1000} {
			var got []float32
			err := StreamMatrix(path, 0, func(r *RowReader) (err error) {
				if r.Rows != m.Rows || r.Cols != m.Cols {
					t.Errorf("%s: %d x %d, want %d x %d", path, r.Rows, r.Cols, m.Rows, m.Cols)
				}
				got, err = allRows(r, atOnce)
				return err
			})
			if err != nil || !slices.EqualFunc(got, m.Data, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
				t.Errorf("%s, %d rows at a time: other values, %v", path, atOnce, err)
			}
		}
		m.Close()
	}
	if read < 10 {
		t.Errorf("%d files were read", read)
	}
}

// Files that cannot be read in order are held in memory within the limit, and errors name file
// and row.
func TestStreamMatrixRefuses(t *testing.T) {
	fortran := golden("fortran.npy")
	wantError(t, StreamMatrix(fortran, 1, func(*RowReader) error { return nil }), ErrLimit, fortran)
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteMatrix(t.Context(), path, 3, 2, []float64{1, 2, 3, 4, 5, 1e300}); err != nil {
		t.Fatal(err)
	}
	for _, atOnce := range []int{1, 3} {
		err := StreamMatrix(path, 0, func(r *RowReader) error { _, err := allRows(r, atOnce); return err })
		wantError(t, err, errRange, path, "row 3", "column 2")
	}
	err := StreamMatrix(path, 0, func(r *RowReader) error { _, err := r.Read(make([]float32, 1)); return err })
	wantError(t, err, errShape, path, "no room")
	mine := errors.New("mine")
	if err := StreamMatrix(path, 0, func(*RowReader) error { return mine }); err != mine {
		t.Errorf("the error of use became %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.npy")
	wantError(t, StreamMatrix(none, 0, func(*RowReader) error { return nil }), os.ErrNotExist, none)
}

// Rows written one after the other give the same file as WriteMatrix.
func TestWriteRows(t *testing.T) {
	const rows, cols = 7, 3
	data := make([]float32, rows*cols)
	for i := range data {
		data[i] = float32(i) - 5.5
	}
	dir := t.TempDir()
	for _, ending := range endings(f4) {
		whole, parts := filepath.Join(dir, "whole"+ending), filepath.Join(dir, "parts"+ending)
		if err := WriteMatrix(t.Context(), whole, rows, cols, data); err != nil {
			t.Fatal(err)
		}
		err := WriteRows(t.Context(), parts, rows, cols, func(put func([]float32) error) error {
			return errors.Join(put(data[:cols]), put(nil), put(data[cols:]))
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(load(t, whole), load(t, parts)) {
			t.Errorf("%s: other bytes", ending)
		}
	}
}

func TestWriteRowsRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("it failed")
	for name, c := range map[string]struct {
		rows, cols int
		fill       func(put func([]float32) error) error
		want       error
	}{
		"too few":  {2, 2, func(put func([]float32) error) error { return put(make([]float32, 2)) }, errShape},
		"too many": {2, 2, func(put func([]float32) error) error { return put(make([]float32, 6)) }, errShape},
		"a part":   {2, 2, func(put func([]float32) error) error { return put(make([]float32, 3)) }, errShape},
		"fails":    {2, 2, func(put func([]float32) error) error { return failed }, failed},
		"negative": {-1, 2, nil, errShape},
		"absurd":   {math.MaxInt, math.MaxInt, nil, errShape},
		"empty":    {2, 0, nil, errShape},
	} {
		if err := WriteRows(t.Context(), path, c.rows, c.cols, c.fill); !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := WriteRows(ctx, path, 2, 1, func(put func([]float32) error) error {
		err := put(make([]float32, 1))
		cancel()
		return errors.Join(err, put(make([]float32, 1)))
	})
	wantError(t, err, context.Canceled, path)
	if string(load(t, path)) != "old" {
		t.Error("the old file is gone")
	}
	onlyFiles(t, dir, "x.npy")
	other := filepath.Join(dir, "x.csv")
	wantError(t, WriteRows(t.Context(), other, 1, 1, nil), ErrUnsupported, other)
}

// Data after the rows is found even if only the end of the stream shows it.
func TestStreamGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.idx.gz")
	if err := WriteMatrix(t.Context(), path, 3, 2, []float32{1, 2, 3, 4, 5, 6}); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		return StreamMatrix(path, 0, func(r *RowReader) error {
			_, err := allRows(r, 2)
			return err
		})
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f) // a second part, which continues the first
	_, err = z.Write([]byte{0})
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte more: %v", err)
	}
}
