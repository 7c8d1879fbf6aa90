package formats

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadLabels(t *testing.T) {
	const dict = "{'descr': '%', 'fortran_order': False, 'shape': (2, 1)}"
	npy := func(descr, payload string) []byte {
		return npyFile(1, strings.Replace(dict, "%", descr, 1), payload)
	}
	for _, c := range []struct {
		name, file string
		want       []int32
	}{
		{"a.npy", string(npy("<i8", "\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff")), []int32{1, -1}},
		{"a.npy", string(npy(">u2", "\x01\x00\x00\x02")), []int32{256, 2}},
		{"a.npy", string(npy("|b1", "\x01\x00")), []int32{1, 0}},
		{"a.idx", string(idxFile(0x08, []uint32{2}, 9, 200)), []int32{9, 200}},
		{"t10k-labels-idx1-ubyte.gz", string(packed(t, idxFile(0x08, []uint32{2}, 9, 200))), []int32{9, 200}},
		{"unknown", string(idxFile(0x08, []uint32{2}, 9, 200)), []int32{9, 200}},
		{"a.ivecs", string(le32(1, 5, 1, math.MaxUint32)), []int32{5, -1}},
		{"a.ibin", string(le32(2, 1, 5, math.MaxUint32)), []int32{5, -1}},

		{"plain.csv", "3\n-1\n0\n", []int32{3, -1, 0}},
		{"no-newline.csv", "3\n4", []int32{3, 4}},
		{"header.csv", "label\n3\n4\n", []int32{3, 4}},
		{"any-header.csv", "target\n3\n4\n", []int32{3, 4}},
		{"windows.csv", "\ufefflabel\r\n3\r\n\r\n4\r\n", []int32{3, 4}},
		{"comments.csv", "# made by hand\n\nlabel\n# one\n3\n \n  4  \n", []int32{3, 4}},
		{"floats.csv", "3.0\n-1.00e0\n1e2\n", []int32{3, -1, 100}},
		{"columns.csv", "id,Label,name\n1,5,a\n2,6,b\n", []int32{5, 6}},
		{"quoted.csv", "\"name\", \"y\"\n\"Smith, \"\"J\"\"\", \"5\"\n\"\",6\n", []int32{5, 6}},
		{"prefer.csv", "y,class,label\n1,2,3\n", []int32{3}},
		{"columns.tsv", "class\tname\n5\tSmith, J\n6\t\n", []int32{5, 6}},
		{"empty-first.tsv", "name\ty\n\t5\n", []int32{5}},
		{"space.txt", "id  labels\n1 5\n2   6\n", []int32{5, 6}},
		{"comma.txt", "id, y\n1, 5\n2,6\n", []int32{5, 6}},
		{"tab.txt", "id\ty\n1\t5\n", []int32{5}},
		{"range.txt", "2147483647\n-2147483648\n", []int32{math.MaxInt32, math.MinInt32}},
		{"missing.csv", "id,label\n3,\n4,nan\n5,NA\n6,2\n", []int32{-1, -1, -1, 2}},
		{"semicolons.csv", "id;label\n3;4\n", []int32{4}},
		{"lines.csv", "text,label\n\"one\ntwo\",4\n", []int32{4}},
		{"empty.csv", "", nil},
		{"only-header.csv", "label\n", nil},
		{"a.csv.gz", string(packed(t, []byte("label\n3\n"))), []int32{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadLabels(put(t, c.name, []byte(c.file)))
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
	for name, want := range map[string][]int32{
		"labels.npy": {3, -1, 0, 7}, "labels_float.npy": {3, -1, 0, 7}, "arrays.npz": {2, 0, 2}, "arrays.npz:labels": {2, 0, 2},
	} {
		got, err := ReadLabels(golden(name))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

// refusedLabels are files that hold no labels, each with its name.
func refusedLabels(t testing.TB) []hostile {
	return []hostile{
		{"a.npy", load(t, golden("i4.npy")), errShape, []string{"3 x 4"}},
		{"a.npy", npyFile(1, "{'descr': '<i4', 'fortran_order': False, 'shape': ()}", "\x01\x00\x00\x00"), errShape, []string{"a single number"}},
		{"a.npy", load(t, golden("vector.npy")), ErrFormat, []string{"row 2", "not an integer"}},
		{"a.npy", load(t, golden("names.npy")), ErrUnsupported, []string{"text"}},
		{"a.npy", load(t, golden("object.npy")), ErrUnsupported, []string{"Python objects", "astype(str)"}},
		{"a.fvecs", le32(1, 0), ErrUnsupported, []string{"float32"}},
		{"a.ivecs", le32(2, 0, 0), errShape, []string{"one column"}},
		{"a.ibin", le32(1, 2, 0, 0), errShape, []string{"one column"}},
		{"a.npy", npyFile(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (2,)}", string(le32(1, 1<<31))), errRange, []string{"row 2", "int32"}},
		{"a.csv", []byte("1\n2\n2147483648\n"), errRange, []string{"line 3"}},
		{"a.csv", []byte("1\n-2147483649\n"), errRange, []string{"line 2"}},
		{"a.csv", []byte("1\n1e999\n"), errRange, []string{"line 2"}},
		{"a.csv", []byte("1\n2.5\n"), ErrFormat, []string{"line 2", "not an integer"}},
		{"a.csv", []byte("1\nword\n"), ErrFormat, []string{"line 2"}},
		{"a.csv", []byte("1\n0x10\n"), ErrFormat, []string{"line 2"}},
		{"a.csv", []byte("1\n1_0\n"), ErrFormat, []string{"line 2"}},
		{"a.csv", []byte("1.5\n"), ErrFormat, []string{"line 1"}},
		{"a.csv", []byte("1,2\n3,4\n"), ErrFormat, []string{"line 1", "2 columns"}},
		{"a.csv", []byte("id,name\n3,4\n"), ErrFormat, []string{"line 1", "2 columns", "label, labels, class, target, category, species, y", "only the column of labels"}},
		{"a.csv", []byte(strings.Repeat("x,", 1000) + "x\n"), ErrFormat, []string{"line 1", "1001 columns"}},
		{"a.csv", []byte("id,label\n3\n"), ErrFormat, []string{"line 2", "1 columns"}},
		{"a.csv", []byte("id,label\n\"3,4\n"), ErrFormat, []string{"line 2", "quotes"}},
		{"a.csv", []byte("id,label\n\"3\"x,4\n"), ErrFormat, []string{"line 2", "quotes"}},
		{"a.csv", []byte("\"id,label\n"), ErrFormat, []string{"line 1", "quotes"}},
		{"a.csv", []byte("1\n" + strings.Repeat("1", maxRecord+1)), ErrFormat, []string{"line 2", "more than"}},
		{"a.csv.gz", []byte("this is not gzip"), ErrFormat, []string{"compressed"}},
		{"a.csv.gz", packed(t, []byte("1\n2\n"))[:20], errTruncated, nil},
		{"a.json", []byte("[1]"), ErrUnsupported, []string{".csv", ".npy"}},
	}
}

func TestReadLabelsRefused(t *testing.T) {
	for _, c := range refusedLabels(t) {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, c.name, c.file)
			labels, err := ReadLabels(path)
			wantError(t, err, c.kind, path, c.parts...)
			if labels != nil {
				t.Errorf("labels %v and an error", labels)
			}
		})
	}
}

func TestWriteLabels(t *testing.T) {
	want := []int32{3, -1, math.MaxInt32, math.MinInt32, 0}
	for _, suffix := range []string{".npy", ".csv", ".ivecs", ".ibin", ".idx", ".idx.gz"} {
		path := filepath.Join(t.TempDir(), "labels"+suffix)
		if err := WriteLabels(t.Context(), path, want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLabels(path)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", suffix, got, err)
		}
	}
}
