package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// textArray is a .npy array of text with code points of four bytes.
func textArray(t *testing.T, shape string, width int, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	header := "{'descr': '<U" + string(rune('0'+width)) + "', 'fortran_order': False, 'shape': " + shape + ", }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write([]byte{byte(len(header)), 0})
	b.WriteString(header)
	for _, text := range texts {
		for _, r := range append([]rune(text), make([]rune, width-len([]rune(text)))...) {
			b.Write([]byte{byte(r), byte(r >> 8), byte(r >> 16), 0})
		}
	}
	return b.Bytes()
}

func TestReadColumnNames(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	archive := func(name, array string, data []byte) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for member, data := range map[string][]byte{array + ".npy": data, "features.npy": data} {
			w, err := z.Create(member)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(data)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return write(name, b.Bytes())
	}
	array := textArray(t, "(2,)", 4, "höhe", "b")
	for _, c := range []struct {
		path string
		want []string
		err  error
	}{
		{write("a.csv", []byte("column\nlength\n\"a, b\"\n\"say \"\"x\"\"\"\n\"two\nlines\"\n\"\"\n")), []string{"length", "a, b", `say "x"`, "two\nlines", ""}, nil},
		{write("b.txt", []byte("length\nwidth\n")), []string{"length", "width"}, nil},
		{write("c.csv", []byte("columns\n")), []string{}, nil},
		{write("d.csv", nil), nil, nil},
		{write("e.csv", []byte("a,b\nc,d\n")), nil, ErrFormat},
		{write("f.csv", []byte("a\n\xff\xfe\n")), nil, ErrFormat},
		{write("g.npy", array), []string{"höhe", "b"}, nil},
		{archive("h.npz", "columns", array), []string{"höhe", "b"}, nil},
		{archive("i.npz", "feature_names", array), []string{"höhe", "b"}, nil},
		{archive("j.npz", "others", array), nil, ErrColumn},
		{archive("k.npz", "others", array) + ":others", []string{"höhe", "b"}, nil},
		{write("l.npy", textArray(t, "(2, 1)", 4, "a", "b")), nil, errShape},
		{write("m.npy", array[:len(array)-3]), nil, errTruncated},
		{write("n.npy", append(array[:len(array):len(array)], 0)), nil, ErrFormat},
		{write("o.npy", textArray(t, "(2,)", 1, "\U0010ffff", "b")), nil, nil},
		{write("p.npy", textArray(t, "(999999999999,)", 4, "a")), nil, ErrUnsupported},
		{write("q.npy", bytes.ReplaceAll(array, []byte("<U4"), []byte("<f4"))), nil, ErrUnsupported},
	} {
		got, err := ReadColumnNames(t.Context(), c.path)
		if !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.path, err, c.err)
		} else if c.want != nil && !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
	a, err := ReadArchive(archive("x.npz", "column_names", array))
	if err != nil || a.Columns != "column_names" || a.Features != "features" {
		t.Errorf("%+v, %v", a, err)
	}
}
