package formats

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// hostile is a file made to mislead a reader, with the expected error.
type hostile struct {
	name  string
	file  []byte
	kind  error
	parts []string
}

// shaped is a float32 .npy file with the given shape and 4096 bytes of data.
func shaped(shape string) []byte {
	return npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': "+shape+"}", strings.Repeat("\x00", 4096))
}

var hostileNPY = []hostile{
	{"2^60 rows", shaped("(1152921504606846976, 64)"), errTruncated, []string{"1152921504606846976 x 64 float32", "more than 2^64 bytes", "4096 bytes"}},
	{"2^60 elements", shaped("(1152921504606846976,)"), errTruncated, []string{"4611686018427387904 bytes", "4096 bytes"}},
	{"product wraps to zero", shaped("(4294967296, 4294967296)"), errTruncated, []string{"more than 2^64"}},
	{"bytes wrap to the right size", shaped("(4611686018427388928,)"), errTruncated, []string{"more than 2^64"}},
	{"one row too many", shaped("(1025, 1)"), errTruncated, []string{"4100 bytes", "4096 bytes"}},
	{"one row too few", shaped("(1023, 1)"), ErrFormat, []string{"4092 bytes", "4096 bytes"}},
	{"negative rows", shaped("(-1, 4)"), ErrFormat, []string{"negative"}},
	{"2^64 rows", shaped("(18446744073709551616, 1)"), ErrFormat, []string{"dimension"}},
	{"rows without columns", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976, 0)}", ""), errShape, []string{"without columns"}},
	{"zero times overflow", npyFile(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807)}", ""), ErrUnsupported, []string{"too large"}},
	{"sixty-five dimensions", shaped("(" + strings.Repeat("1,", 65) + ")"), ErrFormat, []string{"dimensions"}},
	{"header of 4 GiB", append([]byte(npyMagic), 2, 0, 0xff, 0xff, 0xff, 0xff, '{'), ErrFormat, []string{"4294967295"}},
	{"header past the end", append([]byte(npyMagic), 1, 0, 0xff, 0xff, '{'), errTruncated, []string{"65535"}},
	{"header all brackets", npyFile(2, strings.Repeat("{", 1<<16), ""), ErrFormat, []string{"offset"}},
	{"empty header", npyFile(1, "", ""), ErrFormat, []string{"header"}},
	{"empty file", nil, errTruncated, nil},
}

var hostileVecs = []hostile{
	{"empty file", nil, errTruncated, nil},
	{"three bytes", []byte{1, 0, 0}, errTruncated, nil},
	{"d = 2^31-1", le32(math.MaxInt32, 0, 0), errTruncated, []string{"row 1", "12 bytes"}},
	{"d = 0", le32(0, 0, 0), ErrFormat, []string{"row 1", "zero or negative"}},
	{"d = -1", le32(math.MaxUint32, 0, 0), ErrFormat, []string{"row 1", "zero or negative"}},
	{"second row longer", le32(1, 0, 2, 0, 0), ErrFormat, []string{"row 2", "offset 8", "differs from that of row 1"}},
	{"second row of zeros", le32(1, 0, 0, 0), ErrFormat, []string{"row 2", "differs"}},
	{"third row cut", le32(2, 0, 0, 2, 0, 0, 2, 0), errTruncated, []string{"row 3", "ends within the row"}},
	{"two bytes behind", append(le32(1, 0), 1, 0), errTruncated, []string{"row 2", "ends within the row"}},
}

var hostileBin = []hostile{
	{"empty file", nil, errTruncated, nil},
	{"half a header", le32(1), errTruncated, nil},
	{"largest claims", le32(math.MaxUint32, math.MaxUint32), errTruncated, []string{"claims more", "0 bytes"}},
	{"rows without columns", le32(math.MaxUint32, 0), errShape, []string{"without columns"}},
	{"columns without rows", le32(0, math.MaxUint32), ErrUnsupported, []string{"too large"}},
	{"one byte short", append(le32(1, 1), 0, 0, 0), errTruncated, []string{"claims more", "3 bytes"}},
	{"one byte behind", append(le32(1, 1), 0, 0, 0, 0, 0), ErrFormat, []string{"claims less", "5 bytes"}},
}

var hostileIDX = []hostile{
	{"empty file", nil, errTruncated, nil},
	{"no magic", []byte("IDX file"), ErrFormat, []string{"magic"}},
	{"unknown type", []byte{0, 0, 7, 1, 0, 0, 0, 0}, ErrFormat, []string{"magic"}},
	{"no dimensions", []byte{0, 0, 8, 0}, ErrFormat, []string{"magic"}},
	{"dimensions cut", []byte{0, 0, 8, 255, 0, 0}, errTruncated, nil},
	{"2^96 bytes", idxFile(8, []uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}), errTruncated, []string{"more than 2^64"}},
	{"255 dimensions", idxFile(8, slices.Repeat([]uint32{math.MaxUint32}, 255)), errTruncated, []string{"x ..."}},
	{"one short", idxFile(8, []uint32{2}, 1), errTruncated, []string{"2 uint8"}},
	{"one behind", idxFile(8, []uint32{1}, 1, 2), ErrFormat, nil},
}

// hostileNPZ makes archives whose claims do not match their contents.
func hostileNPZ(t testing.TB) []hostile {
	const bomb = 4 << 20 // bytes of zeros, which deflate to a thousandth
	with := func(name string, data []byte) []byte {
		m := npzMembers()
		m[name] = data
		return zipFile(t, m, zip.Deflate)
	}
	head := func(shape string) string {
		return "{'descr': '<i4', 'fortran_order': False, 'shape': " + shape + "}"
	}
	zeros := strings.Repeat("\x00", bomb)
	claimed := with("indptr.npy", npyFile(1, head("(3,)"), string(le32(0, 1, 2))))
	if i := bytes.LastIndex(claimed, []byte("indptr.npy")); i >= 0 { // the directory entry
		binary.LittleEndian.PutUint32(claimed[i-46+20:], 0xfffffffe)
		binary.LittleEndian.PutUint32(claimed[i-46+24:], 0xfffffffe)
	}
	return []hostile{
		{"no archive", []byte("PK\x05\x06"), ErrFormat, nil},
		{"empty file", nil, ErrFormat, nil},
		{"2^60 rows", with("indptr.npy", npyFile(1, head("(1152921504606846976,)"), "")), errTruncated, []string{"indptr.npy"}},
		{"header claims more than comes", with("indptr.npy", npyFile(1, head("(30000,)"), strings.Repeat("\x00", 400))), errTruncated, []string{"indptr.npy"}},
		{"bomb behind the data", with("indptr.npy", npyFile(1, head("(3,)"), zeros)), ErrFormat, []string{"indptr.npy", "bytes follow"}},
		{"bomb in place of a header", with("shape.npy", []byte(zeros)), ErrFormat, []string{"shape.npy", "magic"}},
		{"directory claims 4 GiB", claimed, errTruncated, []string{"indptr.npy"}},
	}
}

// TestHostile checks that each file is refused with the right error before memory is taken.
func TestHostile(t *testing.T) {
	dense := func(path string) error { _, err := ReadMatrix(path); return err }
	double := func(path string) error { _, err := ReadMatrix64(path); return err }
	labels := func(path string) error { _, err := ReadLabels(path); return err }
	csr := func(path string) error { _, err := ReadCSR(path); return err }
	check := func(file string, cases []hostile, readers ...func(string) error) {
		for _, c := range cases {
			t.Run(file+"/"+c.name, func(t *testing.T) {
				path := put(t, file, c.file)
				for _, read := range readers {
					var err error
					n := allocated(func() { err = read(path) })
					wantError(t, err, c.kind, path, c.parts...)
					if n > 4<<20 {
						t.Errorf("%d bytes allocated for a file of %d", n, len(c.file))
					}
				}
			})
		}
	}
	check("features.npy", hostileNPY, dense, double)
	check("features.fvecs", hostileVecs, dense, double)
	check("labels.ivecs", hostileVecs, dense, labels)
	check("features.fbin", hostileBin, dense, double)
	check("features.idx", hostileIDX, dense, double)
	check("matrix.npz", hostileNPZ(t), csr)

	zeros := make([]byte, 16<<20)
	behind := packed(t, append(idxFile(8, []uint32{2}, 1, 2), zeros...))
	check("images-idx3-ubyte.gz", []hostile{
		{"no gzip", []byte("plain"), errTruncated, nil},
		{"no gzip either", []byte("plain text of some length"), ErrFormat, []string{"compressed"}},
		{"bomb behind the data", behind, ErrFormat, []string{"bytes follow"}},
		{"claims more than gzip can hold", packed(t, idxFile(8, []uint32{1 << 31})), errTruncated, []string{"at most"}},
		{"claims what gzip might hold", packed(t, append(idxFile(8, []uint32{20000}), zeros[:1000]...)), errTruncated, nil},
		{"checksum", append(packed(t, idxFile(8, []uint32{2}, 1, 2))[:22+2], 0, 0, 0, 0, 0, 0, 0, 0), ErrFormat, []string{"compressed"}},
	}, dense, labels)
}

// TestTruncated cuts a small file of each format at every byte. Only rows of vecs can be missing
// without leaving a trace.
func TestTruncated(t *testing.T) {
	dense := func(f family, k kind) func([]byte) error {
		return func(data []byte) error {
			_, err := readDense[float32](memory(data), format{family: f, kind: k})
			return err
		}
	}
	gzipped := func(f family) func([]byte) error {
		return func(data []byte) error {
			s, err := newGzipSource(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				_, err = readDense[float32](s, format{family: f})
			}
			return err
		}
	}
	csr := func(data []byte) error { _, err := readCSR(bytes.NewReader(data), int64(len(data))); return err }
	for _, c := range []struct {
		name string
		file []byte
		read func([]byte) error
		good int // a length at which the cut file is a good file
	}{
		{"npy", load(t, golden("f4.npy")), dense(npyFamily, noKind), -1},
		{"npy, converted", load(t, golden("f8be.npy")), dense(npyFamily, noKind), -1},
		{"npy, compressed", packed(t, load(t, golden("f4.npy"))), gzipped(npyFamily), -1},
		{"fbin", le32(2, 1, 5, 6), dense(binFamily, f4), -1},
		{"fvecs", le32(1, 5, 1, 6), dense(vecsFamily, f4), 8},
		{"idx", idxFile(8, []uint32{2, 2}, 1, 2, 3, 4), dense(idxFamily, noKind), -1},
		{"idx, compressed", load(t, golden("images-idx3-ubyte.gz")), gzipped(idxFamily), -1},
		{"npz", load(t, golden("csr.npz")), csr, -1},
		{"npz, deflated", load(t, golden("csr_deflated.npz")), csr, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := range c.file {
				err := c.read(c.file[:cut])
				if bad := errors.Is(err, errTruncated) || errors.Is(err, ErrFormat) || errors.Is(err, ErrUnsupported); bad != (cut != c.good) {
					t.Errorf("cut at %d: %v", cut, err)
				}
			}
			if err := c.read(c.file); err != nil {
				t.Errorf("not cut: %v", err)
			}
		})
	}
}

// TestErrorMessage fixes the form of messages.
func TestErrorMessage(t *testing.T) {
	path := put(t, "features.npy", hostileNPY[0].file)
	_, err := ReadMatrix(path)
	want := fmt.Sprintf("formats: %s: header claims 1152921504606846976 x 64 float32 (more than 2^64 bytes) but the file has 4096 bytes of data", path)
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	path = put(t, "features.fvecs", le32(1, 0, 2, 0, 0))
	_, err = ReadMatrix(path)
	want = fmt.Sprintf("formats: %s: row 2, offset 8: the dimension differs from that of row 1", path)
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
