package formats

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestReadArrays(t *testing.T) {
	for _, c := range []string{"arrays.npz", "arrays.npz:features", "arrays_deflated.npz", "arrays_deflated.npz:X", "only.npz", "unknown.npz:left", "fortran.npy", "fortran_f8be.npy"} {
		single, err := ReadMatrix(golden(c))
		if err != nil || single.Rows != 3 || single.Cols != 4 || !slices.Equal(single.Data, floats[float32]()) {
			t.Errorf("%s: got %+v, %v", c, single, err)
		}
		double, err := ReadMatrix64(golden(c))
		if err != nil || double.Rows != 3 || double.Cols != 4 || !slices.Equal(double.Data, floats[float64]()) {
			t.Errorf("%s: got %+v, %v", c, double, err)
		}
	}
	for _, c := range []struct {
		path  string
		kind  error
		parts []string
	}{
		{"unknown.npz", ErrColumn, []string{"none of the 2 arrays", "features, X, x, data, arr_0", "x.npz:NAME"}},
		{"arrays.npz:nothing", ErrColumn, []string{"no array of that name"}},
		{"csr.npz", ErrUnsupported, []string{"sparse", "toarray()"}},
		{"csr_deflated.npz", ErrUnsupported, []string{"sparse"}},
	} {
		_, err := ReadMatrix(golden(c.path))
		wantError(t, err, c.kind, golden(c.path), c.parts...)
	}
	a, err := ReadArchive(golden("arrays.npz"))
	if err != nil || !slices.Equal(a.Arrays, []string{"features", "labels", "other"}) || a.Features != "features" || a.Labels != "labels" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = ReadArchive(golden("unknown.npz")); err != nil || a.Features != "" || a.Labels != "" || len(a.Arrays) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSplitArray(t *testing.T) {
	odd := put(t, "a.npz:b", nil)
	for path, want := range map[string][2]string{
		"x.npz": {"x.npz", ""}, "x.NPZ:y": {"x.NPZ", "y"}, "x.npy:y": {"x.npy:y", ""}, `C:\x.npz:a:b`: {`C:\x.npz`, "a:b"}, odd: {odd, ""},
	} {
		if file, array := SplitArray(path); file != want[0] || array != want[1] {
			t.Errorf("%s: %s %s", path, file, array)
		}
	}
}

func TestReadNamedLabels(t *testing.T) {
	for _, c := range []struct {
		path  string
		class []int32
		names []string
	}{
		{golden("names.npy"), []int32{1, -1, 0, 1, -1, 2}, []string{"owl", "wren", "Ärger"}},
		{golden("names_bytes.npy"), []int32{1, 0, 1}, []string{"owl", "wren"}},
		{golden("arrays_deflated.npz"), []int32{1, 0, 1}, []string{"a", "b"}},
		{golden("labels.npy"), []int32{3, -1, 0, 7}, nil},
		{put(t, "a.txt", []byte("cat\ndog\ncat\n")), []int32{0, 1, 0}, []string{"cat", "dog"}},
		{put(t, "a.csv", []byte("label\n2\n1.0\n")), []int32{2, 1}, nil},
	} {
		got, err := ReadNamedLabels(t.Context(), c.path, nil)
		if err != nil || !slices.Equal(got.Class, c.class) || !slices.Equal(got.Names, c.names) {
			t.Errorf("%s: got %+v, %v", c.path, got, err)
		}
	}
	got, err := ReadNamedLabels(t.Context(), put(t, "a.csv", []byte("name,kind\n1,b\n2,a\n")), &TableSettings{Label: "kind"})
	if err != nil || !slices.Equal(got.Class, []int32{1, 0}) || got.Missing() != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	const dict = "{'descr': '%', 'fortran_order': False, 'shape': (2,)}"
	for _, c := range []hostile{
		{"<U0", nil, ErrUnsupported, []string{"text"}},
		{"<U1", le32('a', 0xd800), ErrFormat, []string{"row 2", "character"}},
		{"<U1", le32('a', 0xffffffff), ErrFormat, []string{"row 2", "character"}},
		{"|S1", []byte("a\xff"), ErrFormat, []string{"row 2", "UTF-8"}},
		{"<U9223372036854775807", nil, errTruncated, nil},
		{"<U2", le32('a', 'b'), errTruncated, nil},
		{"<U1", le32('a', 'b', 'c'), ErrFormat, nil},
	} {
		path := put(t, "a.npy", npyFile(1, strings.Replace(dict, "%", c.name, 1), string(c.file)))
		_, err := ReadNamedLabels(t.Context(), path, nil)
		wantError(t, err, c.kind, path, c.parts...)
	}
}

// TestFortranRange names the place of a value, not of its bytes.
func TestFortranRange(t *testing.T) {
	file := npyFile(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)}",
		strings.Repeat("\x00", 8*3)+"\xff\xff\xff\xff\xff\xff\xef\x7f"+strings.Repeat("\x00", 8*2)) // the fourth value
	path := put(t, "a.npy", file)
	_, err := ReadMatrix(path)
	wantError(t, err, errRange, path, "row 2", "column 2")
}

// TestLimit refuses rows that come out of little data.
func TestLimit(t *testing.T) {
	member := npyFile(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (4194304, 1)}", strings.Repeat("\x00", 4<<20))
	fortran := npyFile(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2097152, 2)}", strings.Repeat("\x00", 4<<20))
	for _, m := range [][]byte{member, fortran} {
		path := put(t, "a.npz", zipFile(t, map[string][]byte{"x.npy": m}, zip.Deflate))
		var err error
		n := allocated(func() { _, err = ReadTable(t.Context(), path, &TableSettings{Limit: 1 << 20}) })
		wantError(t, err, ErrLimit, path, "1048576 bytes")
		if n > 2<<20 {
			t.Errorf("%d bytes allocated", n)
		}
	}
}

func FuzzArrays(f *testing.F) {
	for _, name := range []string{"arrays.npz", "arrays_deflated.npz", "only.npz", "csr.npz"} {
		f.Add(load(f, golden(name)))
	}
	f.Add(zipFile(f, map[string][]byte{"X.npy": shaped("(1152921504606846976, 64)")}, zip.Store))
	f.Add(zipFile(f, map[string][]byte{"y.npy": npyFile(1, "{'descr': '<U1', 'fortran_order': False, 'shape': (2,)}", string(le32('a', 'b')))}, zip.Deflate))
	f.Fuzz(func(t *testing.T, input []byte) {
		read := func(known []string, use func(*source, format) error) {
			bounded(t, input, 8*4*maxExpansion, func() {
				if err := readMember(bytes.NewReader(input), int64(len(input)), "", known, use); err != nil {
					checkError(t, err)
				}
			})
		}
		read(featureArrays, func(s *source, f format) error {
			d, err := readDense[float64](s, f)
			if err == nil && len(d.data) != d.rows*d.cols {
				t.Fatalf("%d x %d with %d values", d.rows, d.cols, len(d.data))
			}
			return err
		})
		read(labelArrays, func(s *source, f format) error {
			_, err := readLabels(t.Context(), s, f, new(TableSettings), true)
			return err
		})
	})
}
