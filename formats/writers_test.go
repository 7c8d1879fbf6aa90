package formats

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// idxEndings are the names that make an IDX file.
var idxEndings = []string{".idx", "-ubyte", ".idx.gz", "-ubyte.gz"}

// endings returns the endings under which WriteMatrix takes elements of a kind.
func endings(k kind) []string {
	return map[kind][]string{
		f4: slices.Concat([]string{".npy", ".fvecs", ".fbin"}, idxEndings),
		f8: slices.Concat([]string{".npy"}, idxEndings),
		u1: slices.Concat([]string{".npy", ".bvecs", ".u8bin"}, idxEndings),
		i4: slices.Concat([]string{".npy", ".ivecs", ".ibin"}, idxEndings),
		i8: {".npy"},
	}[k]
}

// stored returns the elements of a file without conversion to floats.
func stored[T element](t *testing.T, path string) (data []T) {
	t.Helper()
	err := withSource(path, func(s *source) error {
		f, err := chooseFormat(arrayFormats, path, s)
		if err != nil {
			return err
		}
		if f.family == vecsFamily {
			_, _, data, err = readVecs[T](s, f.kind)
			return err
		}
		a, err := readHeader(s, f)
		if err != nil {
			return err
		}
		if a.dtype.kind != native[T]().kind {
			t.Errorf("the file holds %v", a.dtype.kind)
		}
		n, err := s.claim(a)
		if err != nil {
			return err
		}
		data, err = readArray[T](s, n, 1, a.dtype)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func testRoundTrip[T float32 | float64 | uint8 | int32 | int64](t *testing.T, special ...T) {
	big := make([]T, 6*20001) // several buffers long
	for i := range big {
		big[i] = T(i % 251)
	}
	k := native[T]().kind
	for _, suffix := range endings(k) {
		for _, c := range []struct {
			name       string
			rows, cols int
			data       []T
		}{
			{"special", 2, len(special) / 2, special}, {"column", len(special), 1, special}, {"row", 1, len(special), special},
			{"big", 20001, 6, big}, {"empty", 0, 3, nil},
		} {
			if c.rows == 0 && strings.HasSuffix(suffix, "vecs") {
				continue // these cannot represent the shape
			}
			t.Run(fmt.Sprint(k, c.name, suffix), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "A"+strings.ToUpper(suffix))
				if err := WriteMatrix(t.Context(), path, c.rows, c.cols, c.data); err != nil {
					t.Fatal(err)
				}
				if got := stored[T](t, path); !bytes.Equal(asBytes(got), asBytes(c.data)) {
					t.Error("the elements do not read back")
				}
				d, err := ReadMatrix64(path)
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				if d.Rows != c.rows || d.Cols != c.cols || len(d.Data) != len(c.data) {
					t.Fatalf("got %d x %d, want %d x %d", d.Rows, d.Cols, c.rows, c.cols)
				}
				for i, v := range d.Data {
					if w := float64(c.data[i]); v != w && v == v || (w == w) != (v == v) {
						t.Fatalf("value %d is %v, want %v", i, v, w)
					}
				}
				if k == f8 { // the special values do not fit in float32
					return
				}
				m, err := ReadMatrix(path)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				if m.Rows != c.rows || m.Cols != c.cols || len(m.Data) != len(c.data) {
					t.Fatalf("float32: got %d x %d, want %d x %d", m.Rows, m.Cols, c.rows, c.cols)
				}
				for i, v := range m.Data {
					if w := float32(c.data[i]); v != w && v == v || (w == w) != (v == v) {
						t.Fatalf("float32: value %d is %v, want %v", i, v, w)
					}
				}
			})
		}
	}
	for _, f := range slices.Concat(arrayWriters, []format{{suffix: ".csv"}, {suffix: ".npy.gz"}, {suffix: ".fvecs.gz"}, {suffix: ".npz"}}) {
		if slices.Contains(endings(k), f.suffix) {
			continue
		}
		t.Run(fmt.Sprint(k, "refused", f.suffix), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a"+f.suffix)
			err := WriteMatrix(t.Context(), path, 1, len(special), special)
			wantError(t, err, ErrUnsupported, path, "can be written: "+strings.Join(endings(k), ", "))
			if known := slices.Contains(arrayWriters, f); known != strings.Contains(err.Error(), f.suffix+" takes ") {
				t.Errorf("message %q", err)
			}
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a refused file exists: %v", err)
			}
		})
	}
}

func TestWriteMatrix(t *testing.T) {
	zero := math.Copysign(0, -1)
	testRoundTrip(t, 0, float32(zero), 1, -2.5, math.MaxFloat32, 0x1p-149, float32(math.Inf(-1)), float32(math.NaN()))
	testRoundTrip(t, 0, zero, 1, -2.5, math.MaxFloat64, 0x1p-1074, math.Inf(1), math.NaN())
	testRoundTrip[uint8](t, 0, 1, 127, 128, 254, 255)
	testRoundTrip[int32](t, 0, 1, -1, 0x01020304, math.MaxInt32, math.MinInt32)
	testRoundTrip[int64](t, 0, 1, -1, 0x0102030405060708, math.MaxInt64, math.MinInt64)
}

// TestWriteMatrixGolden compares with bytes written out by hand.
func TestWriteMatrixGolden(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		name  string
		write func(path string) error
		want  string
	}{
		{"a.bvecs", func(p string) error { return WriteMatrix(ctx, p, 2, 3, []uint8{1, 2, 3, 253, 254, 255}) },
			"\x03\x00\x00\x00\x01\x02\x03\x03\x00\x00\x00\xfd\xfe\xff"},
		{"a.ivecs", func(p string) error { return WriteMatrix(ctx, p, 1, 2, []int32{0x01020304, -2}) },
			"\x02\x00\x00\x00\x04\x03\x02\x01\xfe\xff\xff\xff"},
		{"a.fvecs", func(p string) error { return WriteMatrix(ctx, p, 2, 1, []float32{1, -2.5}) },
			"\x01\x00\x00\x00\x00\x00\x80\x3f\x01\x00\x00\x00\x00\x00\x20\xc0"},
		{"a.fbin", func(p string) error { return WriteMatrix(ctx, p, 1, 2, []float32{1, -2.5}) },
			"\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x20\xc0"},
		{"a.u8bin", func(p string) error { return WriteMatrix(ctx, p, 1, 2, []uint8{7, 255}) },
			"\x01\x00\x00\x00\x02\x00\x00\x00\x07\xff"},
		{"a.ibin", func(p string) error { return WriteMatrix(ctx, p, 1, 1, []int32{0x01020304}) },
			"\x01\x00\x00\x00\x01\x00\x00\x00\x04\x03\x02\x01"},
		{"a-idx2-ubyte", func(p string) error { return WriteMatrix(ctx, p, 2, 3, []uint8{1, 2, 3, 253, 254, 255}) },
			"\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03\x01\x02\x03\xfd\xfe\xff"},
		{"a.idx", func(p string) error { return WriteMatrix(ctx, p, 1, 2, []int32{0x01020304, -2}) },
			"\x00\x00\x0c\x02\x00\x00\x00\x01\x00\x00\x00\x02\x01\x02\x03\x04\xff\xff\xff\xfe"},
		{"a.idx", func(p string) error { return WriteMatrix(ctx, p, 1, 2, []float32{1, -2.5}) },
			"\x00\x00\x0d\x02\x00\x00\x00\x01\x00\x00\x00\x02\x3f\x80\x00\x00\xc0\x20\x00\x00"},
		{"a.idx.gz", func(p string) error { return WriteMatrix(ctx, p, 1, 1, []float64{1.5}) },
			"\x00\x00\x0e\x02\x00\x00\x00\x01\x00\x00\x00\x01\x3f\xf8\x00\x00\x00\x00\x00\x00"},
		{"labels.idx", func(p string) error { return WriteLabels(ctx, p, []int32{5, -1}) },
			"\x00\x00\x0c\x01\x00\x00\x00\x02\x00\x00\x00\x05\xff\xff\xff\xff"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := c.write(path); err != nil {
			t.Fatal(err)
		}
		got := load(t, path)
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if got, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if string(got) != c.want {
			t.Errorf("%s: got % x, want % x", c.name, got, c.want)
		}
	}
}

func TestWritersRefuse(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(path string) error
		kind  error
		parts []string
	}{
		{"a.fvecs", func(p string) error { return WriteMatrix(t.Context(), p, 1, 1, []uint8{1}) }, ErrUnsupported,
			[]string{".fvecs takes float32, not uint8; can be written: .npy, .bvecs, .u8bin, .idx"}},
		{"a.i8bin", func(p string) error { return WriteMatrix(t.Context(), p, 1, 1, []uint8{1}) }, ErrUnsupported,
			[]string{".i8bin takes int8, not uint8"}},
		{"a.idx.gz", func(p string) error { return WriteMatrix(t.Context(), p, 1, 1, []int64{1}) }, ErrUnsupported,
			[]string{".idx.gz takes uint8, int32, float32, float64, not int64; can be written: .npy"}},
		{"a.fbin", func(p string) error { return WriteMatrix(t.Context(), p, 1, 1, []float64{1}) }, ErrUnsupported,
			[]string{".fbin takes float32, not float64"}},
		{"a-ubyte", func(p string) error { return WriteLabels(t.Context(), p, []int32{1}) }, ErrUnsupported,
			[]string{"can be written: .npy, .csv, .ivecs, .ibin, .idx, .idx.gz"}},
		{"a.bvecs", func(p string) error { return WriteMatrix(t.Context(), p, 0, 2, []uint8{}) }, errShape, []string{".bvecs", "without rows"}},
		{"a.ivecs", func(p string) error { return WriteLabels(t.Context(), p, nil) }, errShape, []string{"without rows"}},
		{"a.idx", func(p string) error { return WriteMatrix(t.Context(), p, 2, 2, []uint8{1}) }, errShape, []string{"2 x 2", "1 values"}},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		wantError(t, c.write(path), c.kind, path, c.parts...)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a refused file exists: %v", c.name, err)
		}
	}
	if math.MaxInt > math.MaxInt32 {
		rows := min(math.MaxInt, math.MaxUint32) // one more does not fit into the header
		for _, f := range []format{{".idx", idxFamily, noKind}, {".fbin", binFamily, f4}} {
			if err := checkShape(f, rows, 1, rows); err != nil {
				t.Error(err)
			}
			wantError(t, checkShape(f, rows+1, 1, rows+1), errShape, "", "cannot hold 4294967296 rows")
		}
	}
}

// TestWriteMatrixCancelled checks that a cancelled write leaves nothing behind, compressed or not.
func TestWriteMatrixCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	for _, suffix := range endings(u1) {
		path := filepath.Join(dir, "a"+suffix)
		wantError(t, WriteMatrix(ctx, path, 1, 1, []uint8{1}), context.Canceled, path)
	}
	onlyFiles(t, dir)
}
