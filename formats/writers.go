package formats

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

var (
	arrayWriters = slices.Concat(arrayFormats, []format{{".idx.gz", idxFamily, noKind}, {"-ubyte.gz", idxFamily, noKind}})
	labelWriters = []format{
		{".npy", npyFamily, noKind}, {".csv", textFamily, i4}, {".ivecs", vecsFamily, i4}, {".ibin", binFamily, i4},
		{".idx", idxFamily, noKind}, {".idx.gz", idxFamily, noKind},
	}
	csrWriters = []format{{suffix: ".npz"}, {suffix: ".mtx"}}
)

// takes returns the kinds of element that can be written in the format.
func (f format) takes() []kind {
	switch f.family {
	case npyFamily:
		return []kind{f4, f8, u1, i4, i8}
	case idxFamily:
		return []kind{u1, i4, f4, f8}
	}
	return []kind{f.kind}
}

// writerFor returns the format in which to write elements of kind k (noKind for sparse
// matrices) to path.
func writerFor(table []format, path string, k kind) (format, error) {
	f, known := findFormat(table, strings.ToLower(path))
	if known && slices.Contains(f.takes(), k) {
		return f, nil
	}
	why := "unknown kind of file"
	if known {
		names := fmt.Sprint(f.takes())
		why = fmt.Sprintf("%s takes %s, not %v", f.suffix, strings.ReplaceAll(names[1:len(names)-1], " ", ", "), k)
	}
	var usable []format
	for _, f := range table {
		if slices.Contains(f.takes(), k) {
			usable = append(usable, f)
		}
	}
	return format{}, named(path, failf(ErrUnsupported, "%s; can be written: %s", why, suffixes(usable)))
}

// WriteMatrix writes rows x cols elements in row-major order. The ending of the name chooses
// the format:
//
//	.npy                              any T
//	.fvecs .fbin                      float32
//	.bvecs .u8bin                     uint8
//	.ivecs .ibin                      int32
//	.idx -ubyte .idx.gz -ubyte.gz     uint8, int32, float32, float64
//
// Another ending, or one whose format cannot hold a T, is an ErrUnsupported that lists what can
// be written. A length of data other than rows*cols, or dimensions that the format cannot
// express, are an ErrFormat. The file appears as a whole or not at all, as with WriteFile.
func WriteMatrix[T float32 | float64 | uint8 | int32 | int64](ctx context.Context, path string, rows, cols int, data []T) error {
	f, err := writerFor(arrayWriters, path, native[T]().kind)
	if err != nil {
		return err
	}
	return writeArray(ctx, f, path, data, rows, cols)
}

// WriteLabels writes class numbers as .npy, .idx or .idx.gz (one dimension of int32), .ivecs or
// .ibin (one column), or .csv (a column under the header "label"), under the rules of WriteMatrix.
func WriteLabels(ctx context.Context, path string, labels []int32) error {
	f, err := writerFor(labelWriters, path, i4)
	if err != nil {
		return err
	}
	if f.family == textFamily {
		return WriteFile(ctx, path, func(w io.Writer) error { return writeLabelText(w, labels) })
	}
	return writeArray(ctx, f, path, labels, len(labels))
}

// writeArray writes a file in the given format, which must take a T. The shape is rows and
// columns, or the length of a vector.
func writeArray[T element](ctx context.Context, f format, path string, data []T, shape ...int) error {
	rows, cols := shape[0], 1
	if len(shape) > 1 {
		cols = shape[1]
	}
	if err := checkShape(f, rows, cols, len(data)); err != nil {
		return named(path, err)
	}
	return WriteFile(ctx, path, func(w io.Writer) error {
		switch {
		case f.family == vecsFamily:
			return writeVecs(w, data, cols)
		case f.family == binFamily:
			return writeBin(w, data, rows, cols)
		case f.family == npyFamily:
			return writeNPY(w, data, shape...)
		case !strings.HasSuffix(f.suffix, ".gz"):
			return writeIDX(w, data, shape...)
		}
		z := gzip.NewWriter(w)
		if err := writeIDX(z, data, shape...); err != nil {
			return err
		}
		return z.Close()
	})
}

func writeLabelText(w io.Writer, labels []int32) error {
	b := bufio.NewWriter(w)
	b.WriteString("label\n") // an error here appears at the next Write or Flush
	var line []byte
	for _, label := range labels {
		line = strconv.AppendInt(line[:0], int64(label), 10)
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteCSR writes a sparse matrix, a *CSR or a *sparse.CSR, under the rules of WriteMatrix: as .npz,
// uncompressed, which ReadCSR and scipy.sparse.load_npz read, or as .mtx, a Matrix Market file
// with the entries row by row. The lengths must be as ReadCSR promises; values of a .mtx must be
// finite.
func WriteCSR(ctx context.Context, path string, matrix interface {
	Dims() (rows, cols int)
	Arrays() (ptr []uint64, ind []uint32, val []float32)
}) error {
	f, err := writerFor(csrWriters, path, noKind)
	if err != nil {
		return err
	}
	m := new(CSR)
	m.Rows, m.Cols = matrix.Dims()
	m.Ptr, m.Ind, m.Val = matrix.Arrays()
	if m.Rows < 0 || m.Cols < 0 || uint64(max(m.Rows, m.Cols)) > math.MaxUint32 || len(m.Ptr)-1 != m.Rows ||
		len(m.Ind) != len(m.Val) || m.Ptr[m.Rows] != uint64(len(m.Ind)) {
		return named(path, failf(errShape, "%d x %d with %d row pointers, %d indices and %d values is not a CSR matrix",
			m.Rows, m.Cols, len(m.Ptr), len(m.Ind), len(m.Val)))
	}
	if slices.Max(m.Ptr) > uint64(len(m.Ind)) {
		return named(path, failf(errShape, "a row pointer is beyond the last entry"))
	}
	if len(m.Ind) > 0 && uint64(slices.Max(m.Ind)) >= uint64(m.Cols) {
		return named(path, failf(errShape, "an index is beyond the last column"))
	}
	if f.suffix == ".mtx" {
		return writeCSRText(ctx, path, m)
	}
	return WriteFile(ctx, path, func(w io.Writer) error { return writeCSR(w, m) })
}

// checkShape compares the dimensions with the number of elements and with what f has room for.
func checkShape(f format, rows, cols, have int) error {
	if rows < 0 || cols < 0 || rows > 0 && cols == 0 {
		return failf(errShape, "%d x %d is not a valid matrix shape", rows, cols)
	}
	if want, ok := product([]uint64{uint64(rows), uint64(cols)}); !ok || want != uint64(have) {
		return failf(errShape, "%d x %d does not match %d values", rows, cols, have)
	}
	switch {
	case cols > math.MaxInt32:
		return failf(errShape, "%d columns are more than can be read back", cols)
	case f.family == vecsFamily && rows == 0:
		return failf(errShape, "%s cannot hold a matrix without rows", f.suffix)
	case (f.family == binFamily || f.family == idxFamily) && uint64(rows) > math.MaxUint32:
		return failf(errShape, "%s cannot hold %d rows", f.suffix, rows)
	}
	return nil
}
