package formats

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
)

// Reading from any row on gives the same rows as reading the whole file, in every format that
// can seek.
func TestSeek(t *testing.T) {
	files, err := filepath.Glob(golden("*"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, name := range []string{"x.fvecs", "x.fbin", "x.idx"} {
		files = append(files, filepath.Join(folder, name))
		if err := WriteMatrix(t.Context(), filepath.Join(folder, name), 3, 2, []float32{1, 2, 3, 4, 5, 6}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"x.bvecs", "x.u8bin"} {
		files = append(files, filepath.Join(folder, name))
		if err := WriteMatrix(t.Context(), filepath.Join(folder, name), 3, 2, []uint8{1, 2, 3, 4, 5, 6}); err != nil {
			t.Fatal(err)
		}
	}
	sought := map[string]bool{}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
	for _, file := range files {
		whole, err := ReadMatrix(file)
		if err != nil {
			continue
		}
		err = StreamMatrix(file, 0, func(r *RowReader) error {
			if !r.Seeks() {
				if err := r.Seek(0); !errors.Is(err, errShape) {
					t.Errorf("%s: %v", file, err)
				}
				return nil
			}
			for _, row := range []int{r.Rows, r.Rows / 2, max(r.Rows-1, 0), 0} {
				if err := r.Seek(row); err != nil {
					return err
				}
				rest, err := allRows(r, 2)
				if err != nil {
					return err
				}
				if !slices.EqualFunc(rest, whole.Data[row*r.Cols:], same) {
					t.Errorf("%s from row %d on: other values", file, row)
				}
			}
			for _, row := range []int{-1, r.Rows + 1} {
				if err := r.Seek(row); !errors.Is(err, errShape) {
					t.Errorf("%s, row %d: %v", file, row, err)
				}
			}
			sought[filepath.Ext(file)] = true
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		whole.Close()
	}
	for _, ext := range []string{".npy", ".fvecs", ".bvecs", ".fbin", ".u8bin", ".idx"} {
		if !sought[ext] {
			t.Errorf("no file %s was read with Seek: %v", ext, sought)
		}
	}
}
