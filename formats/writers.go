package formats

import (
	"bufio"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

var (
	matrixWriters = []format{{".npy", npyFamily, f4}, {".fvecs", vecsFamily, f4}, {".fbin", binFamily, f4}}
	doubleWriters = []format{{".npy", npyFamily, f8}}
	labelWriters  = []format{{".npy", npyFamily, i4}, {".csv", textFamily, noKind}, {".ivecs", vecsFamily, i4}}
	csrWriters    = []format{{suffix: ".npz"}}
	mtxWriters    = []format{{suffix: ".mtx"}}
)

// writerFor returns how to write path. Nothing is written compressed.
func writerFor(table []format, path string) (format, error) {
	if f, ok := findFormat(table, strings.ToLower(path)); ok {
		return f, nil
	}
	return format{}, named(path, failf(ErrUnsupported, "unknown kind of file; can be written: %s", suffixes(table)))
}

// WriteMatrix writes rows x cols float32 in row-major order as .npy, .fvecs or .fbin, by the
// ending of the name. The file appears as a whole or not at all, as with WriteFile. A length of
// data other than rows*cols, or dimensions that the format cannot express, are an ErrShape.
func WriteMatrix(ctx context.Context, path string, rows, cols int, data []float32) error {
	f, err := writerFor(matrixWriters, path)
	if err != nil {
		return err
	}
	if err := checkShape(f, rows, cols, len(data)); err != nil {
		return named(path, err)
	}
	return WriteFile(ctx, path, func(w io.Writer) error {
		switch f.family {
		case vecsFamily:
			return writeVecs(w, cols, data)
		case binFamily:
			return writeBin(w, rows, cols, data)
		}
		return writeArray(w, "<f4", data, rows, cols)
	})
}

// WriteMatrix64 writes rows x cols float64 in row-major order as .npy, under the rules of
// WriteMatrix.
func WriteMatrix64(ctx context.Context, path string, rows, cols int, data []float64) error {
	f, err := writerFor(doubleWriters, path)
	if err != nil {
		return err
	}
	if err := checkShape(f, rows, cols, len(data)); err != nil {
		return named(path, err)
	}
	return WriteFile(ctx, path, func(w io.Writer) error { return writeArray(w, "<f8", data, rows, cols) })
}

// WriteLabels writes class numbers as .npy (one dimension of int32), .csv (a column under the
// header "label") or .ivecs (one column), under the rules of WriteMatrix.
func WriteLabels(ctx context.Context, path string, labels []int32) error {
	f, err := writerFor(labelWriters, path)
	if err != nil {
		return err
	}
	if err := checkShape(f, len(labels), 1, len(labels)); err != nil {
		return named(path, err)
	}
	return WriteFile(ctx, path, func(w io.Writer) error {
		switch f.family {
		case vecsFamily:
			return writeVecs(w, 1, labels)
		case textFamily:
			return writeLabelText(w, labels)
		}
		return writeArray(w, "<i4", labels, len(labels))
	})
}

func writeLabelText(w io.Writer, labels []int32) error {
	b := bufio.NewWriter(w)
	b.WriteString("label\n") // a failure here shows at the next Write or Flush
	var line []byte
	for _, label := range labels {
		line = strconv.AppendInt(line[:0], int64(label), 10)
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteCSR writes a .npz that ReadCSR and scipy.sparse.load_npz read, uncompressed, under the
// rules of WriteMatrix. The lengths must be as ReadCSR promises.
func WriteCSR(ctx context.Context, path string, m *CSR) error {
	if _, err := writerFor(csrWriters, path); err != nil {
		return err
	}
	if m.Rows < 0 || m.Cols < 0 || uint64(m.Cols) > 1<<32 || len(m.Ptr)-1 != m.Rows ||
		len(m.Ind) != len(m.Val) || m.Ptr[m.Rows] != uint64(len(m.Ind)) {
		return named(path, failf(ErrShape, "%d x %d with %d row pointers, %d indices and %d values is no CSR matrix",
			m.Rows, m.Cols, len(m.Ptr), len(m.Ind), len(m.Val)))
	}
	if slices.Max(m.Ptr) > uint64(len(m.Ind)) {
		return named(path, failf(ErrShape, "a row pointer lies beyond the last entry"))
	}
	if len(m.Ind) > 0 && uint64(slices.Max(m.Ind)) >= uint64(m.Cols) {
		return named(path, failf(ErrShape, "an index lies beyond the last column"))
	}
	return WriteFile(ctx, path, func(w io.Writer) error { return writeCSR(w, m) })
}

// WriteTriplets writes a Matrix Market file (.mtx) of real values in general form that reads back
// bit by bit, under the rules of WriteMatrix. Entries must lie within the matrix and be finite.
func WriteTriplets(ctx context.Context, path string, t *Triplets) error {
	if _, err := writerFor(mtxWriters, path); err != nil {
		return err
	}
	if t.Rows < 0 || t.Cols < 0 || uint64(t.Rows) > 1<<32 || uint64(t.Cols) > 1<<32 ||
		len(t.Row) != len(t.Val) || len(t.Col) != len(t.Val) {
		return named(path, failf(ErrShape, "%d x %d with %d rows, %d columns and %d values is no list of entries",
			t.Rows, t.Cols, len(t.Row), len(t.Col), len(t.Val)))
	}
	for p, v := range t.Val {
		if uint64(t.Row[p]) >= uint64(t.Rows) || uint64(t.Col[p]) >= uint64(t.Cols) {
			return named(path, failf(ErrShape, "entry %d lies outside the matrix", p))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return named(path, failf(ErrRange, "entry %d is not finite", p))
		}
	}
	return WriteFile(ctx, path, func(w io.Writer) error { return writeTriplets(w, t) })
}

// checkShape compares the dimensions with the number of elements and with what f has room for.
func checkShape(f format, rows, cols, have int) error {
	if rows < 0 || cols < 0 || rows > 0 && cols == 0 {
		return failf(ErrShape, "%d x %d is no shape of a matrix", rows, cols)
	}
	if want, ok := product([]uint64{uint64(rows), uint64(cols)}); !ok || want != uint64(have) {
		return failf(ErrShape, "%d x %d does not match %d values", rows, cols, have)
	}
	switch {
	case cols > math.MaxInt32:
		return failf(ErrShape, "%d columns are more than can be read back", cols)
	case f.family == vecsFamily && rows == 0:
		return failf(ErrShape, "%s cannot hold a matrix without rows", f.suffix)
	case f.family == binFamily && uint64(rows) > math.MaxUint32:
		return failf(ErrShape, "%s cannot hold %d rows", f.suffix, rows)
	}
	return nil
}
