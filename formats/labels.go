package formats

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

var labelFormats = slices.Concat(arrayFormats, []format{
	{".csv", textFamily, noKind}, {".tsv", textFamily, noKind}, {".txt", textFamily, noKind},
})

// labelColumns are the names a column of labels may have, the first found wins.
var labelColumns = []string{"label", "labels", "class", "y"}

// ReadLabels reads one class number per row, -1 meaning unlabelled. It takes arrays of integers
// with one dimension, or with one column, in any format that ReadMatrix takes, and text (.csv,
// .tsv, .txt, each also with .gz).
//
// Text has one label per line; blank lines and lines that begin with # do not count. A first line
// that is not a number is a header. With several columns the header must name one label, labels,
// class or y. Fields of .csv are separated by commas, of .tsv by tabs, of .txt by whichever of
// comma, tab and white space the first line shows. A number such as 3.0 counts as 3.
//
// A value that is not an integer or does not fit in int32 is an error naming the row or line. No
// error shows a value, nor the names of columns: a first line that lacks the column may be data.
func ReadLabels(path string) ([]int32, error) {
	var labels []int32
	err := withSource(path, func(s *source) error {
		f, err := chooseFormat(labelFormats, path, s)
		if err != nil {
			return err
		}
		labels, err = readLabels(s, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	return labels, nil
}

func readLabels(s *source, f format) ([]int32, error) {
	switch f.family {
	case textFamily:
		return readLabelText(s, f.suffix)
	case vecsFamily:
		if err := labelKind(f.kind); err != nil {
			return nil, err
		}
		_, cols, data, err := readVecs[int32](s, f.kind)
		if err == nil && cols != 1 {
			return nil, failf(ErrShape, "labels need one column, the rows of the file have several")
		}
		return data, err
	}
	a, err := readHeader(s, f)
	if err != nil {
		return nil, err
	}
	if err := labelKind(a.dtype.kind); err != nil {
		return nil, err
	}
	n, err := s.claim(a)
	if err != nil {
		return nil, err
	}
	if _, _, err := a.matrix(); err != nil {
		return nil, err
	}
	if len(a.shape) > 2 || len(a.shape) == 2 && a.shape[1] != 1 {
		return nil, failf(ErrShape, "labels need one dimension or one column; %s has neither", a).in("shape")
	}
	return readArray[int32](s, n, 1, a.dtype)
}

func labelKind(k kind) error {
	if k.float() {
		return failf(ErrUnsupported, "labels are integers, the file holds %v", k)
	}
	return nil
}

// readLabelText reads labels from lines of text.
func readLabelText(s *source, suffix string) ([]int32, error) {
	l := newLines(s, '#')
	if !l.next() {
		return nil, l.err()
	}
	sep := separator(suffix, l.text)
	fields, ok := splitFields(nil, l.text, sep)
	if !ok {
		return nil, failf(ErrFormat, "quotes do not match").atLine(l.number)
	}
	width := len(fields)
	column, header, err := labelColumn(fields)
	if err != nil {
		return nil, err.atLine(l.number)
	}
	var labels []int32
	for more := !header || l.next(); more; more = l.next() {
		if fields, ok = splitFields(fields[:0], l.text, sep); !ok {
			return nil, failf(ErrFormat, "quotes do not match").atLine(l.number)
		}
		if len(fields) != width {
			return nil, failf(ErrFormat, "%d columns, the first line has %d", len(fields), width).atLine(l.number)
		}
		label, err := parseLabel(fields[column])
		if err != nil {
			return nil, err.atLine(l.number)
		}
		labels = append(labels, label)
	}
	return labels, l.err()
}

// separator returns the byte between fields, 0 for white space.
func separator(suffix string, first []byte) byte {
	switch {
	case suffix == ".csv":
		return ','
	case suffix == ".tsv":
		return '\t'
	case bytes.IndexByte(first, ',') >= 0:
		return ','
	case bytes.IndexByte(first, '\t') >= 0:
		return '\t'
	}
	return 0
}

// labelColumn decides from the first line whether it is a header and which column to read.
func labelColumn(fields [][]byte) (column int, header bool, err *Error) {
	for _, want := range labelColumns {
		named := func(field []byte) bool { return bytes.EqualFold(bytes.TrimSpace(field), []byte(want)) }
		if i := slices.IndexFunc(fields, named); i >= 0 {
			return i, true, nil
		}
	}
	if len(fields) == 1 {
		_, err := parseFloat(fields[0])
		return 0, err == ErrFormat, nil
	}
	return 0, false, failf(ErrFormat, "%d columns, and the line names none of them %s; "+
		"begin with a line that names the columns, or keep only the column of labels", len(fields), strings.Join(labelColumns, ", "))
}

// parseLabel reads an integer, or a decimal number with an integral value.
func parseLabel(field []byte) (int32, *Error) {
	v, err := parseFloat(bytes.TrimSpace(field))
	switch {
	case err == ErrFormat || v != math.Trunc(v):
		return 0, failf(ErrFormat, "the label is not an integer")
	case err != nil || v < math.MinInt32 || v > math.MaxInt32:
		return 0, failf(ErrRange, "the label does not fit in int32")
	}
	return int32(v), nil
}
