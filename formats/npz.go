package formats

import (
	"archive/zip"
	"errors"
	"io"
	"math"
	"os"
	"strings"
)

// CSR is a sparse matrix in compressed rows: the entries of row i are Ind[p] (column) and Val[p]
// for p from Ptr[i] up to Ptr[i+1]. Rows and Cols are at most 2^32-1.
type CSR struct {
	Rows, Cols int
	Ptr        []uint64 // Rows+1 positions
	Ind        []uint32
	Val        []float32
}

// Dims returns the number of rows and columns.
func (m *CSR) Dims() (rows, cols int) { return m.Rows, m.Cols }

// Arrays returns Ptr, Ind and Val.
func (m *CSR) Arrays() (ptr []uint64, ind []uint32, val []float32) { return m.Ptr, m.Ind, m.Val }

// ReadCSR reads a matrix written by scipy.sparse.save_npz, compressed or not. Values of any
// numeric type become float32 under the rules of ReadMatrix; entries that SciPy stores after
// the last row are dropped.
//
// Only lengths are checked: Ptr has Rows+1 entries and its last one is the length of Ind and of
// Val. The caller must check that Ptr ascends and columns are below Cols.
func ReadCSR(path string) (*CSR, error) {
	var m *CSR
	err := withFile(path, func(f *os.File, size int64) error {
		var err error
		m, err = readCSR(f, size)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// npzArchive is an open .npz file.
type npzArchive struct {
	members map[string]*zip.File
	size    int64 // of the whole file
}

func readCSR(r io.ReaderAt, size int64) (*CSR, error) {
	z, err := openNPZ(r, size)
	if err != nil {
		return nil, err
	}
	if err := z.checkFormat(); err != nil {
		return nil, err
	}
	shape, err := npzVector[uint64](z, "shape.npy", false)
	switch {
	case err != nil:
		return nil, err
	case len(shape) != 2:
		return nil, failf(errShape, "%d dimensions, but a matrix has two", len(shape)).in("shape.npy")
	case shape[0] > min(math.MaxInt-1, math.MaxUint32), shape[1] > min(math.MaxInt, math.MaxUint32):
		return nil, failf(ErrUnsupported, "%d x %d is too large a matrix", shape[0], shape[1]).in("shape.npy")
	}
	m := &CSR{Rows: int(shape[0]), Cols: int(shape[1])}
	if m.Ptr, err = npzVector[uint64](z, "indptr.npy", false); err != nil {
		return nil, err
	}
	if len(m.Ptr) != m.Rows+1 {
		return nil, failf(ErrFormat, "%d entries, but %d rows need one more than rows", len(m.Ptr), m.Rows).in("indptr.npy")
	}
	if m.Ind, err = npzVector[uint32](z, "indices.npy", false); err != nil {
		return nil, err
	}
	if m.Val, err = npzVector[float32](z, "data.npy", true); err != nil {
		return nil, err
	}
	nnz := m.Ptr[m.Rows]
	if len(m.Ind) != len(m.Val) || nnz > uint64(len(m.Ind)) {
		return nil, failf(ErrFormat, "%d indices, %d values and the end of indptr do not fit each other", len(m.Ind), len(m.Val))
	}
	m.Ind, m.Val = m.Ind[:nnz], m.Val[:nnz]
	return m, nil
}

// openNPZ reads the directory of the archive.
func openNPZ(r io.ReaderAt, size int64) (*npzArchive, error) {
	// A directory may claim offsets outside of the file: the section returns io.EOF for them.
	z, err := zip.NewReader(io.NewSectionReader(r, 0, size), size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are only compared
		return nil, streamError(err, -1)
	}
	a := &npzArchive{make(map[string]*zip.File, len(z.File)), size}
	for i, f := range z.File {
		if a.members[f.Name] != nil {
			return nil, failf(ErrFormat, "member %d of the archive (counted from 1) has the name of an earlier one", i+1)
		}
		a.members[f.Name] = f
	}
	return a, nil
}

// read opens a member and passes its bytes to f, which must check the end. Errors name the member.
func (z *npzArchive) read(name string, f func(*source) error) error {
	return z.readNamed(name, name, f)
}

// readNamed is read with another name for errors: messages must not show names of members from
// the file, except those that SciPy uses.
func (z *npzArchive) readNamed(name, shown string, f func(*source) error) error {
	m := z.members[name]
	if m == nil {
		return failf(ErrFormat, "the archive has no %s; files of scipy.sparse.save_npz can be read", name)
	}
	if m.CompressedSize64 > uint64(z.size) {
		return failf(errTruncated, "claims %d bytes but the file has %d", m.CompressedSize64, z.size).in(shown)
	}
	if m.Method != zip.Store && m.Method != zip.Deflate {
		return failf(ErrUnsupported, "compression method %d; stored and deflated can be read", m.Method).in(shown)
	}
	r, err := m.Open()
	if err == nil {
		s := boundedSource(r, int64(m.CompressedSize64))
		s.size = int64(min(uint64(s.size), m.UncompressedSize64))
		s.exact = m.Method == zip.Store && m.CompressedSize64 == m.UncompressedSize64
		err = f(s)
		r.Close() // only read from, so nothing is lost if closing fails
	}
	if err == nil {
		return nil
	}
	e, ok := err.(*Error)
	if !ok {
		e = streamError(err, -1)
	}
	return e.in(strings.TrimSuffix(shown+" "+e.Field, " "))
}

// checkFormat reads the name of the sparse format, a single text of bytes or of code points.
func (z *npzArchive) checkFormat() error {
	return z.read("format.npy", func(s *source) error {
		d, err := readNPYDict(s)
		if err != nil {
			return err
		}
		name, err := readNPYString(s, d)
		switch {
		case err != nil:
			return err
		case name != "csr":
			return failf(ErrUnsupported, "the matrix is not stored as csr; save its tocsr()")
		}
		return nil
	})
}

// readNPYString reads the only element of an array of type S (bytes) or U (code points).
func readNPYString(s *source, d npyDict) (string, error) {
	const longest = 16
	width, dt := textType(d.descr)
	if len(d.shape) > 0 || width == 0 || width > longest {
		return "", failf(ErrFormat, "expected one text of at most %d characters", longest).in("header")
	}
	points, err := readArray[int32](s, int(width), 1, dt)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(points), "\x00"), nil // NumPy pads with zeros
}

// npzVector reads a one-dimensional member. Only some may hold floats.
func npzVector[T element](z *npzArchive, name string, floats bool) ([]T, error) {
	var data []T
	err := z.read(name, func(s *source) error {
		a, err := readNPYHeader(s)
		if err != nil {
			return err
		}
		if len(a.shape) != 1 {
			return failf(errShape, "%d dimensions, expected one", len(a.shape)).in("shape")
		}
		if a.dtype.kind.float() && !floats {
			return failf(ErrFormat, "expected integers, found %v", a.dtype.kind).in("header")
		}
		n, err := s.claim(a)
		if err != nil {
			return err
		}
		data, err = readArray[T](s, n, 1, a.dtype)
		return err
	})
	return data, err
}

// writeCSR writes the members that SciPy writes, uncompressed, with int32 positions where they
// fit, as SciPy does.
func writeCSR(w io.Writer, m *CSR) error {
	z := zip.NewWriter(w)
	create := func(name string) (io.Writer, error) {
		return z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	}
	narrow := m.Cols <= math.MaxInt32 && len(m.Ind) <= math.MaxInt32
	members := []struct {
		name  string
		write func(io.Writer) error
	}{
		{"indices", func(w io.Writer) error { return writePositions(w, m.Ind, narrow) }},
		{"indptr", func(w io.Writer) error { return writePositions(w, m.Ptr, narrow) }},
		{"format", func(w io.Writer) error {
			if err := writeNPYHeader(w, "|S3"); err != nil {
				return err
			}
			_, err := io.WriteString(w, "csr")
			return err
		}},
		{"shape", func(w io.Writer) error {
			return writeNPY(w, []int64{int64(m.Rows), int64(m.Cols)}, 2)
		}},
		{"data", func(w io.Writer) error { return writeNPY(w, m.Val, len(m.Val)) }},
	}
	for _, member := range members {
		mw, err := create(member.name)
		if err != nil {
			return err
		}
		if err := member.write(mw); err != nil {
			return err
		}
	}
	return z.Close()
}

// writePositions writes an array as int32 or int64.
func writePositions[T uint32 | uint64](w io.Writer, data []T, narrow bool) error {
	k := i8
	if narrow {
		k = i4
	}
	if err := writeNPYHeader(w, k.descr(), len(data)); err != nil {
		return err
	}
	if narrow {
		return writeConverted(w, data, func(v T) int32 { return int32(v) })
	}
	return writeConverted(w, data, func(v T) int64 { return int64(v) })
}
