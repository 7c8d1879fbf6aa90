package formats

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// idxFile is an IDX header of the given type code before a payload.
func idxFile(code byte, dims []uint32, payload ...byte) []byte {
	b := append([]byte{0, 0, code, byte(len(dims))}, be32(dims...)...)
	return append(b, payload...)
}

func TestReadMatrixFormats(t *testing.T) {
	one, two := math.Float32bits(1), math.Float32bits(-2.5)
	for _, c := range []struct {
		name       string
		file       []byte
		rows, cols int
		want       []float32
	}{
		{"a.fvecs", le32(2, one, two, 2, two, one), 2, 2, []float32{1, -2.5, -2.5, 1}},
		{"a.ivecs", le32(1, 7, 1, math.MaxUint32), 2, 1, []float32{7, -1}},
		{"a.bvecs", []byte{3, 0, 0, 0, 0, 128, 255}, 1, 3, []float32{0, 128, 255}},
		{"a.fbin", le32(1, 2, one, two), 1, 2, []float32{1, -2.5}},
		{"A.FBIN", le32(1, 2, one, two), 1, 2, []float32{1, -2.5}},
		{"a.fbin", le32(0, 5), 0, 5, nil},
		{"a.fbin.gz", packed(t, le32(2, 1, one, two)), 2, 1, []float32{1, -2.5}},
		{"a.ibin", le32(2, 1, 3, math.MaxUint32), 2, 1, []float32{3, -1}},
		{"a.u8bin", append(le32(2, 1), 1, 255), 2, 1, []float32{1, 255}},
		{"a.i8bin", append(le32(2, 1), 1, 255), 2, 1, []float32{1, -1}},
		{"a.idx", idxFile(0x08, []uint32{2}, 5, 250), 2, 1, []float32{5, 250}},
		{"a.idx", idxFile(0x09, []uint32{2}, 5, 250), 2, 1, []float32{5, -6}},
		{"a.idx", idxFile(0x0b, []uint32{1, 2}, 1, 2, 255, 254), 1, 2, []float32{258, -2}},
		{"a.idx", idxFile(0x0c, []uint32{1, 1}, 0, 1, 0, 0), 1, 1, []float32{65536}},
		{"a.idx", idxFile(0x0d, []uint32{1, 2}, be32(one, two)...), 1, 2, []float32{1, -2.5}},
		{"a.idx", idxFile(0x0e, []uint32{1}, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0), 1, 1, []float32{1.5}},
		{"train-images-idx3-ubyte", idxFile(0x08, []uint32{2, 1, 2}, 1, 2, 3, 4), 2, 2, []float32{1, 2, 3, 4}},
		{"train-images-idx3-ubyte.gz", packed(t, idxFile(0x08, []uint32{1, 2, 2}, 1, 2, 3, 4)), 1, 4, []float32{1, 2, 3, 4}},
		{"unknown", idxFile(0x08, []uint32{2}, 5, 250), 2, 1, []float32{5, 250}},
		{"unknown.dat", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", string(le32(one, two))), 1, 2, []float32{1, -2.5}},
		{"a.npy.gz", packed(t, npyFile(2, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1)}", "\x01\x02")), 2, 1, []float32{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, c.name, c.file)
			m, err := ReadMatrix(path)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if m.Rows != c.rows || m.Cols != c.cols || !slices.Equal(m.Data, c.want) {
				t.Errorf("got %d x %d %v, want %d x %d %v", m.Rows, m.Cols, m.Data, c.rows, c.cols, c.want)
			}
			d, err := ReadMatrix64(path)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			for i, v := range d.Data {
				if v != float64(c.want[i]) {
					t.Errorf("float64: value %d is %v, want %v", i, v, c.want[i])
				}
			}
		})
	}
	m, err := ReadMatrix(golden("images-idx3-ubyte.gz"))
	if err != nil || m.Rows != 3 || m.Cols != 4 || !slices.Equal(m.Data, integers[float32]()) {
		t.Errorf("images: got %v, %v", m, err)
	}
}

func TestWriteMatrixRoundTrip(t *testing.T) {
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -2.5, math.MaxFloat32, 0x1p-149, float32(math.Inf(1)), float32(math.NaN())}
	big := make([]float32, 3*bufferSize+7*8) // several buffers long
	for i := range big {
		big[i] = float32(i%1000) - 500
	}
	for _, suffix := range []string{".npy", ".fvecs", ".fbin"} {
		for _, c := range []struct {
			name string
			cols int
			data []float32
		}{{"special", 4, values}, {"row", 8, values}, {"column", 1, values}, {"big", 8, big}} {
			t.Run(c.name+suffix, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), c.name+suffix)
				if err := WriteMatrix(t.Context(), path, len(c.data)/c.cols, c.cols, c.data); err != nil {
					t.Fatal(err)
				}
				m, err := ReadMatrix(path)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				if m.Rows != len(c.data)/c.cols || m.Cols != c.cols || !bytes.Equal(asBytes(m.Data), asBytes(c.data)) {
					t.Errorf("%d x %d does not read back", m.Rows, m.Cols)
				}
			})
		}
	}
}

func TestMapped(t *testing.T) {
	maps := map[string]bool{"linux": true, "darwin": true}[runtime.GOOS]
	for name, want := range map[string]bool{"f4": maps && !hostBig, "f4be": maps && hostBig, "f8": false, "empty": false} {
		m, err := ReadMatrix(golden(name + ".npy"))
		if err != nil {
			t.Fatal(err)
		}
		if m.Mapped() != want {
			t.Errorf("%s: mapped is %v, want %v", name, m.Mapped(), want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	m, err := ReadMatrix64(golden("f8.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if want := maps && !hostBig; m.Mapped() != want {
		t.Errorf("f8: mapped is %v, want %v", m.Mapped(), want)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadMatrixRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadMatrix(dir)
	wantError(t, err, ErrUnsupported, dir, "folder")

	missing := filepath.Join(dir, "missing.npy")
	_, err = ReadMatrix(missing)
	wantError(t, err, fs.ErrNotExist, missing)

	path := put(t, "features.parquet", []byte("PAR1"))
	_, err = ReadMatrix(path)
	wantError(t, err, ErrUnsupported, path, ".npy", ".fvecs", "-ubyte")

	if _, err := os.Stat(os.DevNull); err == nil {
		_, err = ReadMatrix(os.DevNull)
		wantError(t, err, ErrUnsupported, os.DevNull, "not a regular file")
	}

	path = put(t, "a.fvecs.gz", packed(t, le32(1, 0)))
	_, err = ReadMatrix(path)
	wantError(t, err, ErrUnsupported, path, "compressed")

	var e *Error
	if !errors.As(err, &e) || e.Row != -1 || e.Line != 0 {
		t.Errorf("got %#v", e)
	}
}

func TestWriteMatrixRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	for _, c := range []struct {
		rows, cols, n int
	}{{2, 3, 5}, {-1, -6, 6}, {6, -1, 6}, {3, 0, 0}, {math.MaxInt, math.MaxInt, 1}, {math.MaxInt/2 + 1, 4, 0}} {
		err := WriteMatrix(t.Context(), path, c.rows, c.cols, make([]float32, c.n))
		wantError(t, err, errShape, path)
		err = WriteMatrix(t.Context(), path, c.rows, c.cols, make([]float64, c.n))
		wantError(t, err, errShape, path)
	}
	for _, name := range []string{"a.txt", "a.npy.gz", "npy", "a.bvecs"} {
		path := filepath.Join(t.TempDir(), name)
		err := WriteMatrix(t.Context(), path, 1, 1, []float32{1})
		wantError(t, err, ErrUnsupported, path, ".fbin")
		err = WriteLabels(t.Context(), path, []int32{1})
		wantError(t, err, ErrUnsupported, path, ".csv")
		err = WriteMatrix(t.Context(), path, 1, 1, []float64{1})
		wantError(t, err, ErrUnsupported, path, ".npy")
	}
	path = filepath.Join(t.TempDir(), "a.fvecs")
	wantError(t, WriteMatrix[float32](t.Context(), path, 0, 3, nil), errShape, path)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused file exists: %v", err)
	}
}
