package formats

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// goldenCSR is the sparse matrix of testdata/make.py; its zero entry at (1, 0) is not stored.
func goldenCSR() *CSR {
	return &CSR{3, 4, []uint64{0, 2, 3, 4}, []uint32{0, 3, 2, 1}, []float32{-1, -0.25, 0.5, 1.25}}
}

func TestReadCSRGolden(t *testing.T) {
	for _, name := range []string{"csr", "csr_deflated", "csr_int64"} {
		m, err := ReadCSR(golden(name + ".npz"))
		if err != nil || !reflect.DeepEqual(m, goldenCSR()) {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
	path := golden("csc.npz")
	_, err := ReadCSR(path)
	wantError(t, err, ErrUnsupported, path, "csr", "tocsr")
}

func TestWriteCSR(t *testing.T) {
	wide := goldenCSR() // needs 64-bit indices, where int has room for that
	wide.Cols = min(math.MaxInt, math.MaxUint32)
	for _, want := range []*CSR{
		goldenCSR(),
		wide,
		{0, 5, []uint64{0}, []uint32{}, []float32{}},
		{2, 3, []uint64{0, 0, 1}, []uint32{2}, []float32{float32(math.Inf(-1))}},
	} {
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := WriteCSR(t.Context(), path, want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSR(path)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestWriteCSRRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, spoil := range map[string]func(*CSR){
		"rows":     func(m *CSR) { m.Rows = 2 },
		"negative": func(m *CSR) { m.Rows, m.Ptr = -1, nil },
		"columns":  func(m *CSR) { m.Cols = -4 },
		"end":      func(m *CSR) { m.Ptr[3] = 3 },
		"pointer":  func(m *CSR) { m.Ptr[1] = math.MaxUint64 },
		"index":    func(m *CSR) { m.Ind[0] = 4 },
		"values":   func(m *CSR) { m.Val = m.Val[:3] },
	} {
		t.Run(name, func(t *testing.T) {
			m := goldenCSR()
			spoil(m)
			wantError(t, WriteCSR(t.Context(), path, m), errShape, path)
		})
	}
	if math.MaxInt > math.MaxInt32 {
		m := goldenCSR()
		m.Cols = min(math.MaxInt, math.MaxUint32)
		m.Cols++
		wantError(t, WriteCSR(t.Context(), path, m), errShape, path)
	}
	path = filepath.Join(t.TempDir(), "m.zip")
	wantError(t, WriteCSR(t.Context(), path, goldenCSR()), ErrUnsupported, path, ".npz")
}

// npzMembers returns the members of a good file, to be spoilt.
func npzMembers() map[string][]byte {
	npy := func(descr, shape, payload string) []byte {
		return npyFile(1, fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s}", descr, shape), payload)
	}
	return map[string][]byte{
		"format.npy":  npy("<U3", "()", string(le32('c', 's', 'r'))),
		"shape.npy":   npy("<i4", "(2,)", string(le32(2, 3))),
		"indptr.npy":  npy("<i4", "(3,)", string(le32(0, 1, 2))),
		"indices.npy": npy("<i4", "(2,)", string(le32(0, 2))),
		"data.npy":    npy("|i1", "(2,)", "\x05\xff"),
	}
}

// zipFile packs members with the given method.
func zipFile(t testing.TB, members map[string][]byte, method uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipTwice is an archive with two members of the same name.
func zipTwice(t testing.TB, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for range 2 {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadCSR(t *testing.T) {
	want := &CSR{2, 3, []uint64{0, 1, 2}, []uint32{0, 2}, []float32{5, -1}}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		got, err := ReadCSR(put(t, "m.npz", zipFile(t, npzMembers(), method)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("method %d: got %+v, %v", method, got, err)
		}
	}
	members := npzMembers() // SciPy allows entries after the last row
	members["indptr.npy"] = []byte(strings.Replace(string(members["indptr.npy"]), string(le32(0, 1, 2)), string(le32(0, 1, 1)), 1))
	got, err := ReadCSR(put(t, "m.npz", zipFile(t, members, zip.Store)))
	if err != nil || len(got.Ind) != 1 || len(got.Val) != 1 {
		t.Errorf("with room: got %+v, %v", got, err)
	}
}

func TestReadCSRRefused(t *testing.T) {
	replace := func(name, old, new string) func(map[string][]byte) {
		return func(m map[string][]byte) {
			text := string(m[name])
			if !strings.Contains(text, old) {
				t.Fatalf("%s does not contain %q", name, old)
			}
			m[name] = []byte(strings.Replace(text, old, new, 1))
		}
	}
	shape := func(rows, cols int64) []byte {
		var b bytes.Buffer
		if err := writeNPY(&b, []int64{rows, cols}, 2); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, c := range []struct {
		name  string
		spoil func(map[string][]byte)
		kind  error
		parts []string
	}{
		{"no data", func(m map[string][]byte) { delete(m, "data.npy") }, ErrFormat, []string{"data.npy"}},
		{"not npy", func(m map[string][]byte) { m["data.npy"] = []byte("12345678") }, ErrFormat, []string{"data.npy", "magic"}},
		{"short member", func(m map[string][]byte) { m["data.npy"] = m["data.npy"][:len(m["data.npy"])-1] }, errTruncated, []string{"data.npy"}},
		{"long member", func(m map[string][]byte) { m["data.npy"] = append(m["data.npy"], 0) }, ErrFormat, []string{"data.npy"}},
		{"format", replace("format.npy", "r\x00", "c\x00"), ErrUnsupported, []string{"not stored as csr"}},
		{"format type", replace("format.npy", "<U3", "<i4"), ErrFormat, []string{"format.npy"}},
		{"format length", replace("format.npy", "<U3", "<U9999999"), ErrFormat, []string{"format.npy"}},
		{"shape dims", func(m map[string][]byte) { m["shape.npy"] = load(t, golden("i4.npy")) }, errShape, []string{"shape.npy"}},
		{"shape length", func(m map[string][]byte) { m["shape.npy"] = m["indptr.npy"] }, errShape, []string{"3 dimensions"}},
		{"negative shape", replace("shape.npy", string(le32(2, 3)), string(le32(2, math.MaxUint32))), errRange, []string{"shape.npy", "row 2"}},
		{"huge rows", func(m map[string][]byte) { m["shape.npy"] = shape(1<<32, 3) }, ErrUnsupported, []string{"shape.npy", "4294967296 x 3", "too large"}},
		{"huge columns", func(m map[string][]byte) { m["shape.npy"] = shape(2, 1<<32) }, ErrUnsupported, []string{"shape.npy", "2 x 4294967296", "too large"}},
		{"rows", replace("shape.npy", string(le32(2, 3)), string(le32(9, 3))), ErrFormat, []string{"indptr.npy", "9 rows"}},
		{"indptr floats", replace("indptr.npy", "<i4", "<f4"), ErrFormat, []string{"indptr.npy", "integers"}},
		{"indptr end", replace("indptr.npy", string(le32(1, 2)), string(le32(1, 3))), ErrFormat, []string{"2 indices", "2 values", "end of indptr"}},
		{"negative index", replace("indices.npy", string(le32(0, 2)), string(le32(0, math.MaxUint32))), errRange, []string{"indices.npy", "row 2"}},
		{"fewer values", replace("data.npy", "(2,)", "(1,)"), ErrFormat, []string{"data.npy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			members := npzMembers()
			c.spoil(members)
			path := put(t, "m.npz", zipFile(t, members, zip.Deflate))
			_, err := ReadCSR(path)
			wantError(t, err, c.kind, path, c.parts...)
		})
	}
	path := put(t, "m.npz", []byte("PK no zip"))
	_, err := ReadCSR(path)
	wantError(t, err, ErrFormat, path)

	path = put(t, "m.npz", zipTwice(t, "data.npy"))
	_, err = ReadCSR(path)
	wantError(t, err, ErrFormat, path, "member 2", "an earlier one")
}

// TestReadCSRDamaged flips each byte of a file in turn: the result must be a matrix of
// consistent lengths or an *Error.
func TestReadCSRDamaged(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		file := zipFile(t, npzMembers(), method)
		for i := range file {
			file[i] ^= 0xff
			m, err := readCSR(bytes.NewReader(file), int64(len(file)))
			checkCSR(t, m, err)
			file[i] ^= 0xff
		}
	}
}
