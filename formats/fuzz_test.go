package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"slices"
	"testing"
)

// checkError accepts only errors about the input.
func checkError(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Fatalf("%T is not an *Error: %v", err, err)
	}
	for _, kind := range []error{ErrFormat, errTruncated, ErrUnsupported, errShape, errRange, ErrColumn, ErrLimit} {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Fatalf("unknown kind of error: %v", err)
}

// bounded runs f and checks that it allocates at most factor bytes for each byte of input, and
// the fixed buffers.
func bounded(t *testing.T, input []byte, factor uint64, f func()) {
	t.Helper()
	const buffers = 3 << 20 // readers, decompressors, the longest line
	if got, limit := allocated(f), uint64(len(input))*factor+buffers; got > limit {
		t.Fatalf("%d bytes allocated for %d bytes of input, the limit is %d", got, len(input), limit)
	}
}

// checkDense reads input as a matrix of both types, row by row, and as labels.
func checkDense(t *testing.T, input []byte, f format) {
	bounded(t, input, 16, func() { checkStream(t, input, f) })
	bounded(t, input, 16, func() {
		d, err := readDense[float32](memory(input), f)
		if err != nil {
			checkError(t, err)
		} else if len(d.data) != d.rows*d.cols {
			t.Fatalf("%d x %d with %d values", d.rows, d.cols, len(d.data))
		}
	})
	bounded(t, input, 32, func() {
		d, err := readDense[float64](memory(input), f)
		if err != nil {
			checkError(t, err)
		} else if len(d.data) != d.rows*d.cols {
			t.Fatalf("%d x %d with %d values", d.rows, d.cols, len(d.data))
		}
	})
	bounded(t, input, 16, func() {
		if _, err := readLabels(t.Context(), memory(input), f, new(TableSettings), true); err != nil {
			checkError(t, err)
		}
	})
}

func FuzzNPY(f *testing.F) {
	for _, name := range []string{"v1", "v2", "v3", "f2", "f8be", "u1", "i8", "labels", "cube", "fortran", "object", "structured", "empty"} {
		f.Add(load(f, golden(name+".npy")))
	}
	for _, c := range hostileNPY {
		f.Add(c.file)
	}
	f.Fuzz(func(t *testing.T, input []byte) { checkDense(t, input, format{family: npyFamily}) })
}

func FuzzVecs(f *testing.F) {
	f.Add(le32(2, 1, 2, 2, 3, 4), uint8(f4))
	f.Add(le32(1, 5, 1, 6), uint8(i4))
	f.Add([]byte{2, 0, 0, 0, 1, 2}, uint8(u1))
	for _, c := range hostileVecs {
		f.Add(c.file, uint8(f4))
	}
	f.Fuzz(func(t *testing.T, input []byte, k uint8) {
		checkDense(t, input, format{family: vecsFamily, kind: []kind{f4, i4, u1}[k%3]})
	})
}

func FuzzBin(f *testing.F) {
	f.Add(le32(1, 2, 3, 4), uint8(f4))
	f.Add(append(le32(2, 1), 3, 4), uint8(u1))
	for _, c := range hostileBin {
		f.Add(c.file, uint8(f4))
	}
	f.Fuzz(func(t *testing.T, input []byte, k uint8) {
		checkDense(t, input, format{family: binFamily, kind: []kind{f4, i4, u1, i1}[k%4]})
	})
}

func FuzzIDX(f *testing.F) {
	f.Add(idxFile(0x08, []uint32{2, 1, 2}, 1, 2, 3, 4), false)
	f.Add(idxFile(0x0e, []uint32{1}, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0), false)
	f.Add(load(f, golden("images-idx3-ubyte.gz")), true)
	for _, c := range hostileIDX {
		f.Add(c.file, false)
		f.Add(packed(f, c.file), true)
	}
	f.Fuzz(func(t *testing.T, input []byte, compressed bool) {
		if !compressed {
			checkDense(t, input, format{family: idxFamily})
			return
		}
		bounded(t, input, 8*4*maxExpansion, func() {
			s, err := newGzipSource(bytes.NewReader(input), int64(len(input)))
			if err == nil {
				_, err = readDense[float64](s, format{family: idxFamily})
			}
			if err != nil {
				checkError(t, err)
			}
		})
	})
}

func FuzzLabelsCSV(f *testing.F) {
	for _, text := range []string{
		"", "1\n2\n", "label\n3.0\n", "id,label\n1,-1\n", "\"a\"\"\",\"y\"\n\"x,\",2\n", "a\tclass\n\t1\n", "id label\n1 2\n",
		"# c\n\n1\n", "\ufeff1\r\n2\r\n", "1e9\n", "1e999\n", "a,b\n", "\"", ",,\n", "9999999999\n",
	} {
		for kind := range uint8(3) {
			f.Add([]byte(text), kind)
		}
	}
	f.Fuzz(func(t *testing.T, input []byte, k uint8) {
		suffix := []string{".csv", ".tsv", ".txt"}[k%3]
		var labels *Labels
		var err error
		bounded(t, input, 256, func() { labels, err = readLabelText(t.Context(), memory(input), suffix, new(TableSettings), false) })
		if err != nil {
			checkError(t, err)
			return
		}
		var again bytes.Buffer
		if err := writeLabelText(&again, labels.Class); err != nil {
			t.Fatal(err)
		}
		got, err := readLabelText(t.Context(), memory(again.Bytes()), ".csv", new(TableSettings), false)
		if err != nil || !slices.Equal(got.Class, labels.Class) {
			t.Fatalf("%v reads back as %v, %v", labels, got, err)
		}
	})
}

// checkCSR accepts a matrix with lengths as promised, or an error of a known kind.
func checkCSR(t *testing.T, m *CSR, err error) {
	t.Helper()
	if err != nil {
		checkError(t, err)
		return
	}
	if len(m.Ptr) != m.Rows+1 || m.Ptr[m.Rows] != uint64(len(m.Ind)) || len(m.Ind) != len(m.Val) {
		t.Fatalf("%d x %d with %d pointers, %d indices, %d values", m.Rows, m.Cols, len(m.Ptr), len(m.Ind), len(m.Val))
	}
}

func FuzzNPZ(f *testing.F) {
	for _, name := range []string{"csr", "csr_deflated", "csr_int64", "csc"} {
		f.Add(load(f, golden(name+".npz")))
	}
	f.Add(zipFile(f, npzMembers(), zip.Deflate))
	for _, c := range hostileNPZ(f) {
		f.Add(c.file)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var m *CSR
		var err error
		bounded(t, input, 8*4*maxExpansion, func() { m, err = readCSR(bytes.NewReader(input), int64(len(input))) })
		checkCSR(t, m, err)
	})
}
