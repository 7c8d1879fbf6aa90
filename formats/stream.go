package formats

import (
	"compress/gzip"
	"context"
	"io"
	"math"
	"strings"
)

// RowReader reads the rows of a matrix in order, several at a time. It is not safe for
// concurrent use.
type RowReader struct {
	// Rows and Cols are the size of the matrix.
	Rows, Cols int

	path    string
	s       *source // nil where data has the rows
	dt      dtype
	vecs    bool // each row begins with its dimension
	scratch []byte
	data    []float32 // rows that cannot be read in order
	done    int       // rows returned so far
	first   int64     // where the first row begins in the file
}

// StreamMatrix passes the rows of a file to use, in order. It reads the files of ReadMatrix.
// Rows of .npy, .npz, .fvecs and related formats, .fbin and related formats, and IDX take no
// more memory than use provides. Text and arrays in Fortran order are read as a whole; limit is
// how many bytes they may take, 0 for no limit. Errors of the file name the path. The error of
// use is returned unchanged.
func StreamMatrix(path string, limit int64, use func(r *RowReader) error) error {
	var used error
	err := withArray(path, matrixFormats, featureArrays, func(s *source, f format) error {
		s.limit = limit
		r, err := newRowReader(s, f)
		if err != nil {
			return err
		}
		r.path, r.first = path, s.off
		used = use(r)
		return nil
	})
	if used != nil {
		return used
	}
	return err
}

// newRowReader reads the header before the rows.
func newRowReader(s *source, f format) (*RowReader, error) {
	switch f.family {
	case vecsFamily:
		return newVecsReader(s, f.kind)
	case textFamily:
		d, err := readDense[float32](s, f)
		return &RowReader{Rows: d.rows, Cols: d.cols, data: d.data}, err
	}
	a, err := readHeader(s, f)
	if err != nil {
		return nil, err
	}
	rows, cols, err := matrixSize(s, f, a)
	if err != nil {
		return nil, err
	}
	if a.fortran {
		data, err := readFortran[float32](s, a.dtype, rows, cols)
		return &RowReader{Rows: rows, Cols: cols, data: data}, err
	}
	return &RowReader{Rows: rows, Cols: cols, s: s, dt: a.dtype, scratch: newScratch(bufferSize)}, nil
}

// newVecsReader finds the number of rows from the size of the file.
func newVecsReader(s *source, k kind) (*RowReader, error) {
	rows, d, rest, err := vecsSize(s, k)
	if err != nil {
		return nil, err
	}
	if rest > 0 {
		return nil, failf(errTruncated, "the file ends within the row, or rows have several dimensions").atRow(rows)
	}
	return &RowReader{Rows: rows, Cols: d, s: s, dt: dtype{kind: k}, vecs: true, scratch: newScratch(bufferSize)}, nil
}

// Read fills the rows of dst, which has room for a whole number of them, and returns how many
// it has filled: it fills dst except at the end. When no row is left it returns io.EOF, after
// it has checked that the file ends where its header says. Other errors are those of
// ReadMatrix.
func (r *RowReader) Read(dst []float32) (rows int, err error) {
	if r.Cols > 0 {
		rows = min(len(dst)/r.Cols, r.Rows-r.done)
	}
	if rows == 0 && r.done < r.Rows {
		return 0, named(r.path, failf(errShape, "no room for a row of %d columns", r.Cols))
	}
	if rows == 0 {
		return 0, r.end()
	}
	if err := r.fill(dst[:rows*r.Cols]); err != nil {
		return 0, named(r.path, err)
	}
	r.done += rows
	return rows, nil
}

// Seeks reports whether Seek can be called: the file is not compressed, and its rows follow each
// other.
func (r *RowReader) Seeks() bool { return r.s != nil && r.s.file != nil }

// Seek makes Read continue with the given row, without reading those before it. The row Rows is
// the end. It returns an ErrFormat if the reader cannot seek or the row does not exist.
func (r *RowReader) Seek(row int) error {
	switch {
	case !r.Seeks():
		return named(r.path, failf(errShape, "its rows can only be read in order"))
	case row < 0 || row > r.Rows:
		return named(r.path, failf(errShape, "there is no row %d among %d", row+1, r.Rows))
	}
	bytes := int64(r.Cols) * int64(r.dt.kind.size())
	if r.vecs {
		bytes += vecsHead
	}
	r.done, r.s.off = row, r.first+int64(row)*bytes
	r.s.r.Reset(io.NewSectionReader(r.s.file, r.s.off, r.s.size-r.s.off))
	return nil
}

// end returns io.EOF, or an error if something follows the rows.
func (r *RowReader) end() error {
	if r.s == nil {
		return io.EOF
	}
	if err := r.s.end(); err != nil {
		return named(r.path, err)
	}
	return io.EOF
}

// fill reads whole rows.
func (r *RowReader) fill(dst []float32) error {
	if r.s == nil {
		copy(dst, r.data[r.done*r.Cols:])
		return nil
	}
	if !r.vecs {
		return r.elements(dst, r.done)
	}
	for i := r.done; len(dst) > 0; i++ {
		if err := readVecsDim(r.s, int32(r.Cols), i); err != nil {
			return err
		}
		if err := r.elements(dst[:r.Cols], i); err != nil {
			return err
		}
		dst = dst[r.Cols:]
	}
	return nil
}

// elements reads elements from the beginning of a row on.
func (r *RowReader) elements(dst []float32, row int) error {
	bad, err := fill(r.s, dst, r.dt, r.scratch)
	if err == nil && bad >= 0 {
		e := failf(errRange, "column %d: the %v is finite but overflows %v", bad%r.Cols+1, r.dt.kind, f4)
		return e.atRow(row + bad/r.Cols)
	}
	return err
}

// WriteRows writes a matrix of float32 row by row: fill calls put with whole rows until all of
// them are written. Endings and errors are those of WriteMatrix, and an ErrFormat if fill passes
// more or fewer rows. The file appears as a whole or not at all.
func WriteRows(ctx context.Context, path string, rows, cols int, fill func(put func(rows []float32) error) error) error {
	f, err := writerFor(arrayWriters, path, f4)
	if err != nil {
		return err
	}
	if rows < 0 || cols < 0 || cols > 0 && rows > math.MaxInt/8/cols {
		return named(path, failf(errShape, "%d x %d is not a valid matrix shape", rows, cols))
	}
	if err := checkShape(f, rows, cols, rows*cols); err != nil {
		return named(path, err)
	}
	return WriteFile(ctx, path, func(w io.Writer) (err error) {
		if strings.HasSuffix(f.suffix, ".gz") {
			z := gzip.NewWriter(w)
			defer func() {
				if err == nil {
					err = z.Close()
				}
			}()
			w = z
		}
		if err := writeRowsHeader(w, f, rows, cols); err != nil {
			return err
		}
		done := 0
		err = fill(func(data []float32) error {
			if len(data)%max(cols, 1) != 0 || len(data) > rows*cols-done {
				return failf(errShape, "%d values, which are too many or not whole rows", len(data))
			}
			done += len(data)
			if f.family == vecsFamily {
				return writeVecs(w, data, cols)
			}
			return writeElements(w, data, f.family == idxFamily)
		})
		if err == nil && done != rows*cols {
			err = failf(errShape, "%d values written, want %d x %d", done, rows, cols)
		}
		return err
	})
}

// writeRowsHeader writes the header before the first row of float32.
func writeRowsHeader(w io.Writer, f format, rows, cols int) error {
	switch f.family {
	case npyFamily:
		return writeNPYHeader(w, f4.descr(), rows, cols)
	case binFamily:
		return writeBin(w, []float32(nil), rows, cols)
	case idxFamily:
		return writeIDX(w, []float32(nil), rows, cols)
	}
	return nil
}
