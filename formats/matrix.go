package formats

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// Matrix is a feature matrix in row-major order without padding: entry (i, j) is
// Data[i*Cols+j].
//
// Data may be a read-only mapping of the file (see Mapped): reading it is safe for concurrent
// use, writing to it faults, and so does reading after another program has truncated the file.
// Copy the matrix if either may happen.
type Matrix struct {
	Rows, Cols int
	Data       []float32
	unmap      func() error
}

// Matrix64 is Matrix in float64.
type Matrix64 struct {
	Rows, Cols int
	Data       []float64
	unmap      func() error
}

// ReadMatrix reads features from a file. The ending of its name chooses the format (see the
// table in the package comment), or its first bytes if the ending is unknown. One-dimensional
// arrays become one column, IDX images one row each. Of a .npz it reads the only array, or the
// first one found of features, X, x, data and arr_0; a name such as x.npz:train selects
// another. Text is read as in ReadTable, without its labels.
//
// Data stored as float32 rows (.npy, .fbin) is mapped, not read, where the system allows. Other
// data is converted: integers round to nearest, and a finite float64 that overflows float32 is
// an ErrFormat with its row and column. NaN and infinities pass through. Call Close when done.
func ReadMatrix(path string) (*Matrix, error) {
	d, err := loadDense[float32](path)
	if err != nil {
		return nil, err
	}
	return &Matrix{d.rows, d.cols, d.data, d.unmap}, nil
}

// ReadMatrix64 is ReadMatrix in float64. A float64 .npy is mapped. All other types of elements
// convert without rounding, except for 64-bit integers.
func ReadMatrix64(path string) (*Matrix64, error) {
	d, err := loadDense[float64](path)
	if err != nil {
		return nil, err
	}
	return &Matrix64{d.rows, d.cols, d.data, d.unmap}, nil
}

// Mapped reports whether Data is a mapping of the file.
func (m *Matrix) Mapped() bool { return m.unmap != nil }

// Mapped reports whether Data is a mapping of the file.
func (m *Matrix64) Mapped() bool { return m.unmap != nil }

// Close releases the mapping, if there is one, and sets Data to nil. Copies of the slice must
// not be used afterwards. Calling it again does nothing. It must not run while Data is in use.
func (m *Matrix) Close() error {
	m.Data = nil
	return release(&m.unmap)
}

// Close is as for Matrix.
func (m *Matrix64) Close() error {
	m.Data = nil
	return release(&m.unmap)
}

func release(unmap *func() error) error {
	f := *unmap
	*unmap = nil
	if f == nil {
		return nil
	}
	return f()
}

// dense is the common form of Matrix and Matrix64.
type dense[T float] struct {
	rows, cols int
	data       []T
	unmap      func() error
}

// family groups formats that share a reader.
type family uint8

const (
	npyFamily family = iota + 1
	vecsFamily
	binFamily
	idxFamily
	textFamily
)

// format is a way to store an array, recognised by the ending of a file's name.
type format struct {
	suffix string
	family family
	kind   kind // of the elements, where the name decides it
}

var arrayFormats = []format{
	{".npy", npyFamily, noKind},
	{".fvecs", vecsFamily, f4}, {".bvecs", vecsFamily, u1}, {".ivecs", vecsFamily, i4},
	{".fbin", binFamily, f4}, {".u8bin", binFamily, u1}, {".i8bin", binFamily, i1}, {".ibin", binFamily, i4},
	{".idx", idxFamily, noKind}, {"-ubyte", idxFamily, noKind},
}

// matrixFormats are the formats of features.
var matrixFormats = slices.Concat(arrayFormats, textFormats, []format{{".npz", npyFamily, noKind}})

// findFormat returns the entry of table whose suffix ends the lower-case name.
func findFormat(table []format, name string) (format, bool) {
	for _, f := range table {
		if strings.HasSuffix(name, f.suffix) {
			return f, true
		}
	}
	return format{}, false
}

// sniff recognises a format by its first bytes.
func sniff(s *source) (format, bool) {
	head, _ := s.r.Peek(len(npyMagic)) // short files are too short for either
	switch {
	case string(head) == npyMagic:
		return format{family: npyFamily}, true
	case len(head) >= 4 && bytes.HasPrefix(head, []byte{0, 0}) && idxKinds[head[2]] != noKind && head[3] > 0:
		return format{family: idxFamily}, true
	}
	return format{}, false
}

// chooseFormat decides by the name without a final .gz, then by the contents.
func chooseFormat(table []format, path string, s *source) (format, error) {
	if f, ok := findFormat(table, strings.TrimSuffix(strings.ToLower(path), ".gz")); ok {
		return f, nil
	}
	if f, ok := sniff(s); ok {
		return f, nil
	}
	return format{}, failf(ErrUnsupported, "unknown kind of file; supported are %s", suffixes(table))
}

// suffixes lists a table for a message.
func suffixes(table []format) string {
	names := make([]string, len(table))
	for i, f := range table {
		names[i] = f.suffix
	}
	return strings.Join(names, ", ")
}

func loadDense[T float](path string) (d dense[T], err error) {
	err = withArray(path, matrixFormats, featureArrays, func(s *source, f format) error {
		d, err = readDense[T](s, f)
		return err
	})
	return d, err
}

// readDense reads a matrix in the given format.
func readDense[T float](s *source, f format) (d dense[T], err error) {
	switch f.family {
	case vecsFamily:
		d.rows, d.cols, d.data, err = readVecs[T](s, f.kind)
		return d, err
	case textFamily:
		r := &tableReader[T]{ctx: context.Background(), settings: &TableSettings{SkipLabels: true}, records: newRecords(s, f.suffix)}
		if err := r.read(); err != nil {
			return d, err
		}
		return dense[T]{rows: r.rows, cols: len(r.layout.Features), data: r.data()}, nil
	}
	a, err := readHeader(s, f)
	if err != nil {
		return d, err
	}
	if d.rows, d.cols, err = matrixSize(s, f, a); err != nil {
		return d, err
	}
	n := d.rows * d.cols
	if a.fortran {
		d.data, err = readFortran[T](s, a.dtype, d.rows, d.cols)
		return d, err
	}
	if d.data, d.unmap = mapArray[T](s, n, a.dtype); d.unmap != nil {
		return d, nil
	}
	if err := withinLimit[T](s, n); err != nil {
		return d, err
	}
	d.data, err = readArray[T](s, n, d.cols, a.dtype)
	return d, err
}

// matrixSize returns the size of an array that is a matrix, after it has compared it with the
// length of s.
func matrixSize(s *source, f format, a array) (rows, cols int, err error) {
	if f.family == npyFamily && len(a.shape) > 2 {
		return 0, 0, failf(errShape, "the array has %d dimensions (%s), but a matrix has two", len(a.shape), a).in("shape")
	}
	if _, err := s.claim(a); err != nil {
		return 0, 0, err
	}
	return a.matrix()
}

// withinLimit refuses n elements if they take more memory than the caller allows.
func withinLimit[T float](s *source, n int) error {
	if s.limit > 0 && int64(n) > s.limit/int64(unsafe.Sizeof(T(0))) {
		return failf(ErrLimit, "the rows would take more than %d bytes of memory", s.limit)
	}
	return nil
}

// readHeader reads the header before the elements of an array.
func readHeader(s *source, f format) (array, error) {
	switch f.family {
	case npyFamily:
		return readNPYHeader(s)
	case binFamily:
		return readBinHeader(s, f.kind)
	default:
		return readIDXHeader(s)
	}
}

// mapArray maps the n elements at the position of s, if s is a file that stores them as in
// memory, suitably aligned. Otherwise, or if mapping fails, it returns nil.
func mapArray[T float](s *source, n int, dt dtype) ([]T, func() error) {
	size := dt.kind.size()
	if s.file == nil || n == 0 || dt != native[T]() || s.off%int64(size) != 0 || s.size > math.MaxInt {
		return nil, nil
	}
	raw, unmap, err := disk.Map(s.file, int(s.size))
	if err != nil {
		return nil, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&raw[s.off])), n), unmap
}
