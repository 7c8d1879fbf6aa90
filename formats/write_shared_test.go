package formats

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// shared writes rows in the given parts, the last part first, each with its own SharedFile.
func shared(ctx context.Context, path string, rows, cols int, data []float32, bounds []int) error {
	first, err := CreateShared(path, rows, cols)
	if err != nil {
		return err
	}
	for p := len(bounds) - 2; p >= 0; p-- {
		s := first
		if p > 0 {
			if s, err = OpenShared(path, first.Temporary(), rows, cols); err != nil {
				return errors.Join(err, first.Remove())
			}
		}
		lo, hi := bounds[p], bounds[p+1]
		if err := errors.Join(s.WriteRows(ctx, lo, data[lo*cols:hi*cols]), s.Sync()); err != nil {
			return errors.Join(err, first.Remove())
		}
	}
	return first.Rename()
}

// A shared file has the same bytes and permissions as one of WriteMatrix.
func TestSharedFileEqualsWriteMatrix(t *testing.T) {
	const rows, cols = 7, 3
	data := make([]float32, rows*cols)
	for i := range data {
		data[i] = float32(i) + 0.25
	}
	for _, name := range []string{"x.npy", "x.fvecs", "x.fbin", "x.idx"} {
		for _, bounds := range [][]int{{0, 7}, {0, 3, 7}, {0, 0, 1, 6, 7, 7}} {
			whole, parts := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(parts, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(parts, 0o640); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(parts)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(WriteMatrix(t.Context(), whole, rows, cols, data), shared(t.Context(), parts, rows, cols, data, bounds)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(load(t, whole), load(t, parts)) {
				t.Errorf("%s in %d parts: other bytes", name, len(bounds)-1)
			}
			if after, err := os.Stat(parts); err != nil || after.Mode() != before.Mode() {
				t.Errorf("%s: mode %v was %v, %v", name, after.Mode(), before.Mode(), err)
			}
			if left := names(t, filepath.Dir(parts)); len(left) != 1 {
				t.Errorf("%s: the folder has %v", name, left)
			}
		}
	}
}

// names lists a folder.
func names(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// After an error the file is unchanged, and the folder has no other files.
func TestSharedFileRefuses(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x.npy")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		rows, cols int
		want       error
	}{
		{"x.npy", -1, 2, errShape}, {"x.npy", 2, 0, errShape}, {"x.npy", math.MaxInt, math.MaxInt32, errShape}, {"x.fvecs", 0, 2, errShape},
		{"x.csv", 2, 2, ErrUnsupported}, {"x.idx.gz", 2, 2, ErrUnsupported},
		{"none/x.npy", 2, 2, os.ErrNotExist},
	} {
		if _, err := CreateShared(filepath.Join(folder, c.name), c.rows, c.cols); !errors.Is(err, c.want) {
			t.Errorf("%s of %d x %d: %v", c.name, c.rows, c.cols, err)
		}
	}
	if _, err := OpenShared(path, filepath.Join(folder, "none"), 2, 2); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	s, err := CreateShared(path, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ first, values int }{{-1, 2}, {4, 0}, {0, 3}, {2, 4}, {0, 8}} {
		if err := s.WriteRows(t.Context(), c.first, make([]float32, c.values)); !errors.Is(err, errShape) {
			t.Errorf("%d values from row %d on: %v", c.values, c.first, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.WriteRows(ended, 0, make([]float32, 2)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := errors.Join(s.Remove(), s.Remove()); err != nil {
		t.Error(err)
	}
	if got := names(t, folder); len(got) != 1 || string(load(t, path)) != "before" {
		t.Errorf("left: %v", got)
	}
}

func TestCanShare(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]bool{
		"/dev/stdout": false, "/dev/stderr": false, folder: false, filepath.Join(folder, "x.npy"): true, filepath.Join(folder, "x.idx.GZ"): false,
	} {
		if canShare(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
