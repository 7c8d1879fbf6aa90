package formats

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadNPYGolden(t *testing.T) {
	type result struct {
		rows, cols int
		data       []float32
	}
	floating := result{3, 4, floats[float32]()}
	integral := result{3, 4, integers[float32]()}
	cases := map[string]result{
		"bool":   {3, 4, []float32{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}},
		"vector": {12, 1, floating.data}, "vector_f8": {12, 1, floating.data},
		"column": {3, 1, []float32{-1, 0, 1}},
		"empty":  {0, 4, []float32{}},
	}
	for _, name := range []string{"v1", "v2", "v3", "f2", "f4", "f8", "f2be", "f4be", "f8be"} {
		cases[name] = floating
	}
	for _, name := range []string{"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "i4be", "i8be"} {
		cases[name] = integral
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			path := golden(name + ".npy")
			m, err := ReadMatrix(path)
			if err != nil {
				t.Fatal(err)
			}
			if m.Rows != want.rows || m.Cols != want.cols || !slices.Equal(m.Data, want.data) {
				t.Errorf("got %d x %d %v, want %v", m.Rows, m.Cols, m.Data, want)
			}
			d, err := ReadMatrix64(path)
			if err != nil {
				t.Fatal(err)
			}
			if d.Rows != want.rows || d.Cols != want.cols || len(d.Data) != len(want.data) {
				t.Fatalf("float64: got %d x %d with %d values", d.Rows, d.Cols, len(d.Data))
			}
			for i, v := range d.Data {
				if v != float64(want.data[i]) {
					t.Errorf("float64: value %d is %v, want %v", i, v, want.data[i])
				}
			}
			for range 2 { // the second close does nothing
				if err := m.Close(); err != nil || m.Data != nil || m.Mapped() {
					t.Errorf("Close: %v, data %v, mapped %v", err, m.Data, m.Mapped())
				}
				if err := d.Close(); err != nil || d.Data != nil || d.Mapped() {
					t.Errorf("Close: %v, data %v, mapped %v", err, d.Data, d.Mapped())
				}
			}
		})
	}
}

func TestReadNPYRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		kind error
		part string
	}{
		{"scalar", errShape, "single number"},
		{"cube", errShape, "3 dimensions (3 x 2 x 2)"},
		{"complex", ErrUnsupported, "complex"},
		{"text", ErrUnsupported, "text"},
		{"object", ErrUnsupported, "Python objects"},
		{"structured", ErrUnsupported, "structured"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := golden(c.name + ".npy")
			_, err := ReadMatrix(path)
			wantError(t, err, c.kind, path, c.part)
		})
	}
}

// TestNPYVersions reads headers written by hand, byte for byte, of each version.
func TestNPYVersions(t *testing.T) {
	const dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n"
	payload := string(le32(math.Float32bits(1.5), math.Float32bits(-2)))
	for _, c := range []struct {
		name string
		file string
	}{
		{"1.0", "\x93NUMPY\x01\x00\x3c\x00" + dict + payload},
		{"2.0", "\x93NUMPY\x02\x00\x3c\x00\x00\x00" + dict + payload},
		{"3.0", "\x93NUMPY\x03\x00\x3c\x00\x00\x00" + dict + payload},
		{"unaligned", "\x93NUMPY\x01\x00\x3d\x00 " + dict + payload},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ReadMatrix(put(t, "hand.npy", []byte(c.file)))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if m.Rows != 1 || m.Cols != 2 || !slices.Equal(m.Data, []float32{1.5, -2}) {
				t.Errorf("got %d x %d %v", m.Rows, m.Cols, m.Data)
			}
		})
	}
	path := put(t, "future.npy", []byte("\x93NUMPY\x04\x00\x3c\x00\x00\x00"+dict+payload))
	_, err := ReadMatrix(path)
	wantError(t, err, ErrUnsupported, path, "version 4.0")
}

func TestParseDict(t *testing.T) {
	const rest = "'fortran_order': False, 'shape': (3, 4)"
	good := map[string]npyDict{
		"{'descr': '<f4', " + rest + ", }":                                      {"<f4", false, []uint64{3, 4}},
		" { \"descr\" :\"<f4\",\t" + rest + "}  \n":                             {"<f4", false, []uint64{3, 4}},
		"{'shape': (), 'fortran_order': True, 'descr': '|u1'}":                  {"|u1", true, []uint64{}},
		"{'shape': (7,), 'fortran_order': False, 'descr': '>i8'}":               {">i8", false, []uint64{7}},
		"{'shape': (7L, 2L,), 'fortran_order': False, 'descr': ''}":             {"", false, []uint64{7, 2}},
		"{'shape': (9223372036854775807,), 'fortran_order': True, 'descr': ''}": {"", true, []uint64{math.MaxInt64}},
	}
	for text, want := range good {
		got, err := parseDict(text, 10)
		if err != nil || got.descr != want.descr || got.fortran != want.fortran || !slices.Equal(got.shape, want.shape) {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	bad := []string{
		"", "{", "{}", "[]", "{'descr': '<f4'}", "{'descr': '<f4', " + rest,
		"{'descr': '<f4', 'descr': '<f4', " + rest + "}",
		"{'descr': '<f4', 'extra': 1, " + rest + "}",
		"{'descr': '<f4' " + rest + "}", "{'descr' '<f4', " + rest + "}",
		"{'descr': '<f4', " + rest + "} x", "{'descr': '<f4', " + rest + ",, }",
		"{'descr': '\\x3cf4', " + rest + "}", "{'descr': '<f4, " + rest + "}", "{'descr': <f4, " + rest + "}",
		"{'descr': 'f', 'fortran_order': 0, 'shape': (3, 4)}",
		"{'descr': 'f', 'fortran_order': Falsehood, 'shape': (3, 4)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (3)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': 3}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (-3, 4)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (3 4)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (3,,)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (,)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (3.0,)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (9223372036854775808,)}",
		"{'descr': 'f', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", maxDims+1) + ")}",
	}
	for _, text := range bad {
		_, err := parseDict(text, 10)
		wantError(t, err, ErrFormat, "", "header, offset")
	}
	_, err := parseDict("{'descr': [('x', '<f4')], "+rest+"}", 10)
	wantError(t, err, ErrUnsupported, "")
}

func TestParseDescr(t *testing.T) {
	for descr, want := range map[string]dtype{
		"<f4": {f4, false}, ">f4": {f4, true}, "=f4": {f4, hostBig}, "|u1": {u1, false}, ">i1": {i1, false}, "|b1": {u1, false},
	} {
		if got, err := parseDescr(descr); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", descr, got, err, want)
		}
	}
	for descr, what := range map[string]string{
		"|O": "Python objects", "<U3": "text", "|S3": "text", "<c8": "complex", "|V8": "structures", "<M8[ns]": "dates or times",
		"<f16": "another size", "<q8": "unknown kind",
	} {
		_, err := parseDescr(descr)
		wantError(t, err, ErrUnsupported, "", what)
	}
	for descr, kind := range map[string]error{
		"": ErrFormat, "<": ErrFormat, "f4": ErrFormat, "|f4": ErrFormat, "<f": ErrUnsupported,
		"<" + strings.Repeat("x", 1000): ErrUnsupported,
	} {
		_, err := parseDescr(descr)
		wantError(t, err, kind, "")
	}
}

// TestFloatOverflow checks that a finite float64 never becomes infinite without an error.
func TestFloatOverflow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wide.npy")
	data := []float64{1, math.Inf(1), math.NaN(), math.MaxFloat32, -1e39, 1e-60}
	if err := WriteMatrix(t.Context(), path, 3, 2, data); err != nil {
		t.Fatal(err)
	}
	_, err := ReadMatrix(path)
	wantError(t, err, errRange, path, "row 3", "column 1")
	m, err := ReadMatrix64(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i, v := range m.Data {
		if math.Float64bits(v) != math.Float64bits(data[i]) {
			t.Errorf("value %d is %v, want %v", i, v, data[i])
		}
	}
	data[4] = -1
	if err := WriteMatrix(t.Context(), path, 3, 2, data); err != nil {
		t.Fatal(err)
	}
	f, err := ReadMatrix(path)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(float64(f.Data[1]), 1) || f.Data[2] == f.Data[2] || f.Data[5] != 0 {
		t.Errorf("got %v", f.Data)
	}
}

// TestWriteNPY compares with the bytes that NumPy writes.
func TestWriteNPY(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		write func(path string) error
	}{
		{"f4", func(p string) error { return WriteMatrix(t.Context(), p, 3, 4, floats[float32]()) }},
		{"f8", func(p string) error { return WriteMatrix(t.Context(), p, 3, 4, floats[float64]()) }},
		{"u1", func(p string) error { return WriteMatrix(t.Context(), p, 3, 4, integers[uint8]()) }},
		{"i4", func(p string) error { return WriteMatrix(t.Context(), p, 3, 4, integers[int32]()) }},
		{"i8", func(p string) error { return WriteMatrix(t.Context(), p, 3, 4, integers[int64]()) }},
		{"empty", func(p string) error { return WriteMatrix[float32](t.Context(), p, 0, 4, nil) }},
		{"labels", func(p string) error { return WriteLabels(t.Context(), p, []int32{3, -1, 0, 7}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name+".npy")
			if err := c.write(path); err != nil {
				t.Fatal(err)
			}
			if got, want := load(t, path), load(t, golden(c.name+".npy")); !bytes.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// TestNPYHeaderAligned checks that elements start at a multiple of 64 bytes for any shape.
func TestNPYHeaderAligned(t *testing.T) {
	for n := 1; n < math.MaxInt/20; n *= 10 {
		for _, shape := range [][]int{{}, {n}, {n, n}, {n, 1, n}} {
			var b bytes.Buffer
			if err := writeNPYHeader(&b, "<f4", shape...); err != nil {
				t.Fatal(err)
			}
			if b.Len()%npyAlign != 0 {
				t.Errorf("%v: header of %d bytes", shape, b.Len())
			}
			d, err := readNPYDict(memory(b.Bytes()))
			if err != nil || fmt.Sprint(d.shape) != fmt.Sprint(shape) {
				t.Errorf("%v: read back %v, %v", shape, d.shape, err)
			}
		}
	}
}

// TestWriteElements checks both byte orders on any host.
func TestWriteElements(t *testing.T) {
	data := make([]uint32, bufferSize) // several buffers long
	for i := range data {
		data[i] = uint32(i) * 0x01020305
	}
	full := errors.New("full")
	fails := writerFunc(func([]byte) (int, error) { return 0, full })
	for big, want := range map[bool][]byte{false: le32(data...), true: be32(data...)} {
		var b bytes.Buffer
		if err := writeElements(&b, data, big); err != nil || !bytes.Equal(b.Bytes(), want) {
			t.Errorf("big-endian %v: wrong bytes, %v", big, err)
		}
		if err := writeElements(fails, data, big); !errors.Is(err, full) {
			t.Errorf("got %v", err)
		}
	}
}
