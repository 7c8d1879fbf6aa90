package formats

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Triplets is a sparse matrix as a list of entries in any order: entry p has row Row[p], column
// Col[p] (both from 0) and value Val[p]. Entries at the same place add up. Rows and Cols are at
// most 2^32-1.
type Triplets struct {
	Rows, Cols int
	Row, Col   []uint32
	Val        []float64
}

// ReadTriplets reads a Matrix Market file (.mtx, or .mtx.gz) in coordinate format with real or
// integer values, or pattern (every value 1). The file has only the lower triangle of
// symmetric and skew-symmetric matrices. They are expanded: each entry off the diagonal is
// followed by its mirror image. Values must be finite.
func ReadTriplets(path string) (*Triplets, error) {
	var t *Triplets
	err := withSource(path, func(s *source) error {
		var err error
		t, err = readTriplets(s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// mtxBanner is the first line of the file.
type mtxBanner struct {
	pattern bool
	mirror  float64 // factor of the mirrored entry: 0 general, 1 symmetric, -1 skew-symmetric
}

func readTriplets(s *source) (*Triplets, error) {
	l := newLines(s, 0)
	if !l.next() {
		return nil, mtxEnd(l, "an empty file")
	}
	banner, err := parseBanner(l.text)
	if err != nil {
		return nil, err.atLine(l.number)
	}
	l.comment = '%'
	if !l.next() {
		return nil, mtxEnd(l, "no line with rows, columns and entries")
	}
	t, nnz, err := parseMTXSize(l.text, banner)
	if err != nil {
		return nil, err.atLine(l.number)
	}
	// An entry takes at least four bytes ("1 1" and the end of the line, which the last line
	// may lack).
	if most := uint64(s.size)/4 + 1; nnz > most {
		return nil, failf(ErrTruncated, "claims more entries than the %d that the file has room for", most).atLine(l.number)
	}
	announced := l.number
	if s.exact { // otherwise memory grows with the decompressed data
		t.reserve(int(nnz), banner)
	}
	for range nnz {
		if !l.next() {
			return nil, mtxEnd(l, fmt.Sprintf("line %d announces more entries", announced))
		}
		if err := t.appendLine(l.text, banner); err != nil {
			return nil, err.atLine(l.number)
		}
	}
	if l.next() {
		return nil, failf(ErrFormat, "more entries than line %d announces", announced).atLine(l.number)
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	return t, nil
}

// mtxEnd is the error for a file that ends too early.
func mtxEnd(l *lines, what string) error {
	if err := l.err(); err != nil {
		return err
	}
	return failf(ErrTruncated, "the file ends too early: %s", what).atLine(l.number)
}

// parseBanner reads "%%MatrixMarket matrix coordinate real general". Messages do not repeat its
// words.
func parseBanner(line []byte) (b mtxBanner, err *Error) {
	const form = "%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric|skew-symmetric"
	words := strings.Fields(strings.ToLower(string(line[:min(len(line), 200)])))
	if len(words) == 0 || words[0] != "%%matrixmarket" {
		return b, failf(ErrFormat, "not a Matrix Market file: the first line must be %s", form)
	}
	if len(words) != 5 {
		return b, failf(ErrFormat, "%d words, but the form is %s", len(words), form)
	}
	unsupported := func(word int, want string) *Error {
		return failf(ErrUnsupported, "word %d must be %s", word, want)
	}
	if words[1] != "matrix" {
		return b, unsupported(2, "matrix")
	}
	if words[2] != "coordinate" {
		return b, unsupported(3, "coordinate, the sparse format")
	}
	switch words[3] {
	case "real", "integer":
	case "pattern":
		b.pattern = true
	default:
		return b, unsupported(4, "real, integer or pattern")
	}
	switch words[4] {
	case "general":
	case "symmetric":
		b.mirror = 1
	case "skew-symmetric":
		b.mirror = -1
	default:
		return b, unsupported(5, "general, symmetric or skew-symmetric")
	}
	if b.pattern && b.mirror < 0 {
		return b, failf(ErrFormat, "a pattern has no signs, so it cannot be skew-symmetric")
	}
	return b, nil
}

// parseMTXSize reads "rows columns entries".
func parseMTXSize(line []byte, b mtxBanner) (t *Triplets, nnz uint64, err *Error) {
	fields := bytes.Fields(line)
	var size [3]uint64
	for i := range size {
		ok := len(fields) == len(size)
		if ok {
			size[i], ok = parseUint(fields[i])
		}
		if !ok {
			return nil, 0, failf(ErrFormat, "expected rows, columns and number of entries")
		}
	}
	const mostRows, mostEntries uint64 = min(math.MaxInt, math.MaxUint32), math.MaxInt / 16
	rows, cols, nnz := size[0], size[1], size[2]
	switch {
	case max(rows, cols) > mostRows || nnz > mostEntries:
		return nil, 0, failf(ErrUnsupported, "the matrix is too large: at most %[1]d rows, %[1]d columns and %[2]d entries can be read", mostRows, mostEntries)
	case b.mirror != 0 && rows != cols:
		return nil, 0, failf(ErrFormat, "a symmetric matrix has as many rows as columns")
	}
	return &Triplets{Rows: int(rows), Cols: int(cols)}, nnz, nil
}

// reserve makes room for n lines of the file.
func (t *Triplets) reserve(n int, b mtxBanner) {
	if b.mirror != 0 {
		n *= 2
	}
	t.Row, t.Col, t.Val = make([]uint32, 0, n), make([]uint32, 0, n), make([]float64, 0, n)
}

func (t *Triplets) append(row, col uint64, v float64) {
	t.Row, t.Col, t.Val = append(t.Row, uint32(row)), append(t.Col, uint32(col)), append(t.Val, v)
}

// appendLine adds the entry of a line "row column value", and its mirror image.
func (t *Triplets) appendLine(line []byte, b mtxBanner) *Error {
	var fields [4][]byte
	n := 0
	for field := range bytes.FieldsSeq(line) {
		if n < len(fields) {
			fields[n] = field
		}
		n++
	}
	want := 3
	if b.pattern {
		want = 2
	}
	if n != want {
		return failf(ErrFormat, "%d fields, expected %d", n, want)
	}
	i, ok1 := parseUint(fields[0])
	j, ok2 := parseUint(fields[1])
	if !ok1 || !ok2 || i < 1 || j < 1 || i > uint64(t.Rows) || j > uint64(t.Cols) {
		return failf(ErrFormat, "the row or the column is not one of the matrix (both are counted from 1)")
	}
	v := 1.0
	if !b.pattern {
		var err error
		if v, err = parseFloat(fields[2]); err != nil {
			return failf(err, "the value is not a finite decimal number")
		}
	}
	switch {
	case b.mirror == 0:
		t.append(i-1, j-1, v)
		return nil
	case j > i:
		return failf(ErrFormat, "an entry above the diagonal: of a symmetric matrix only the lower triangle is stored")
	case j == i && b.mirror < 0:
		return failf(ErrFormat, "an entry on the diagonal of a skew-symmetric matrix")
	}
	t.append(i-1, j-1, v)
	if j != i {
		t.append(j-1, i-1, b.mirror*v)
	}
	return nil
}

// writeTriplets writes coordinate real general; values keep all their bits.
func writeTriplets(w io.Writer, t *Triplets) error {
	b := newMTXWriter(w, t.Rows, t.Cols, len(t.Val))
	for p, v := range t.Val {
		if err := b.entry(uint64(t.Row[p]), uint64(t.Col[p]), v, 64); err != nil {
			return err
		}
	}
	return b.Flush()
}

// writeCSRText is writeTriplets for the entries of m, row by row.
func writeCSRText(ctx context.Context, path string, m *CSR) error {
	for p, v := range m.Val {
		if v-v != 0 {
			return named(path, failf(ErrRange, "entry %d is not finite", p+1))
		}
	}
	if !slices.IsSorted(m.Ptr) {
		return named(path, failf(ErrShape, "the row pointers do not ascend"))
	}
	return WriteFile(ctx, path, func(w io.Writer) error {
		b := newMTXWriter(w, m.Rows, m.Cols, len(m.Val))
		for i := range m.Rows {
			for p := m.Ptr[i]; p < m.Ptr[i+1]; p++ {
				if err := b.entry(uint64(i), uint64(m.Ind[p]), float64(m.Val[p]), 32); err != nil {
					return err
				}
			}
		}
		return b.Flush()
	})
}

// An mtxWriter writes entries, one per line.
type mtxWriter struct {
	*bufio.Writer
	line []byte
}

func newMTXWriter(w io.Writer, rows, cols, entries int) *mtxWriter {
	b := &mtxWriter{Writer: bufio.NewWriter(w)}
	fmt.Fprintf(b, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", rows, cols, entries)
	return b
}

// entry writes a value of 32 or 64 bits with the fewest digits that read back to the same bits.
func (b *mtxWriter) entry(row, col uint64, v float64, bits int) error {
	b.line = strconv.AppendUint(b.line[:0], row+1, 10)
	b.line = append(b.line, ' ')
	b.line = strconv.AppendUint(b.line, col+1, 10)
	b.line = append(b.line, ' ')
	b.line = strconv.AppendFloat(b.line, v, 'g', -1, bits)
	b.line = append(b.line, '\n')
	_, err := b.Write(b.line)
	return err
}
