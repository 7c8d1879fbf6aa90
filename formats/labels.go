package formats

import (
	"context"
	"math"
	"slices"
	"strings"
)

var labelFormats = slices.Concat(arrayFormats, textFormats, []format{{".npz", npyFamily, noKind}})

// ReadLabels reads one class number per row; -1 means unlabelled. It reads arrays of numbers
// with one dimension, or with one column, in any format of ReadMatrix, and text (.csv, .tsv,
// .txt, each also with .gz). Of a .npz it reads the only array, or the first of labels, label,
// y and target; a name such as x.npz:classes selects another.
//
// Text has one label per line, under the rules of ReadTable. The first line is a header if it
// is one of the names that ReadTable knows, or text above a number. If there are several
// columns, it must contain one of those names. A number such as 3.0 counts as 3, in text and in
// arrays of floats; a missing value or NaN is -1.
//
// A value that is not an integer or does not fit in int32 is an error naming the row or line.
// No error shows a value, nor the names of columns: a first line without the column may be
// data.
func ReadLabels(path string) ([]int32, error) {
	l, err := loadLabels(context.Background(), path, new(TableSettings), false)
	if err != nil {
		return nil, err
	}
	return l.Class, nil
}

// ReadNamedLabels is ReadLabels for files that may have names in place of numbers: text with
// labels that are not numbers, and .npy arrays of text. Names are numbered in sorted order.
// Label and Header of s say which column of text to read; nil means the defaults.
func ReadNamedLabels(ctx context.Context, path string, s *TableSettings) (*Labels, error) {
	if s == nil {
		s = new(TableSettings)
	}
	return loadLabels(ctx, path, s, true)
}

func loadLabels(ctx context.Context, path string, s *TableSettings, names bool) (*Labels, error) {
	var l *Labels
	err := withArray(path, labelFormats, labelArrays, func(src *source, f format) (err error) {
		l, err = readLabels(ctx, src, f, s, names)
		return err
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// readLabels reads labels; names reports whether they may be names.
func readLabels(ctx context.Context, s *source, f format, t *TableSettings, names bool) (*Labels, error) {
	switch f.family {
	case textFamily:
		return readLabelText(ctx, s, f.suffix, t, names)
	case vecsFamily:
		if f.kind.float() {
			return nil, failf(ErrUnsupported, "labels are integers, but the file holds %v", f.kind)
		}
		_, cols, data, err := readVecs[int32](s, f.kind)
		switch {
		case err != nil:
			return nil, err
		case cols != 1:
			return nil, failf(errShape, "labels need one column, but the rows of the file have several")
		}
		return &Labels{Class: data}, nil
	case npyFamily:
		return readNPYLabels(s, names)
	}
	a, err := readHeader(s, f)
	if err != nil {
		return nil, err
	}
	return readLabelArray(s, a)
}

// readLabelArray reads an array of numbers.
func readLabelArray(s *source, a array) (*Labels, error) {
	n, err := s.claim(a)
	if err != nil {
		return nil, err
	}
	if err := oneColumn(a); err != nil {
		return nil, err
	}
	if !a.dtype.kind.float() {
		data, err := readArray[int32](s, n, 1, a.dtype)
		if err != nil {
			return nil, err
		}
		return &Labels{Class: data}, nil
	}
	values, err := readArray[float64](s, n, 1, a.dtype)
	if err != nil {
		return nil, err
	}
	class := make([]int32, n)
	for i, v := range values {
		switch {
		case math.IsNaN(v):
			class[i] = -1
		case v != math.Trunc(v):
			return nil, failf(ErrFormat, "the label is not an integer").atRow(i)
		case v < math.MinInt32 || v > math.MaxInt32:
			return nil, failf(errRange, "the label does not fit in int32").atRow(i)
		default:
			class[i] = int32(v)
		}
	}
	return &Labels{Class: class}, nil
}

// oneColumn refuses arrays that have no label per row.
func oneColumn(a array) error {
	if _, _, err := a.matrix(); err != nil {
		return err
	}
	if len(a.shape) > 2 || len(a.shape) == 2 && a.shape[1] != 1 {
		return failf(errShape, "labels need one dimension or one column; %s has neither", a).in("shape")
	}
	return nil
}

// readLabelText reads labels from text.
func readLabelText(ctx context.Context, s *source, suffix string, t *TableSettings, names bool) (*Labels, error) {
	r := &tableReader[float32]{ctx: ctx, settings: t, records: newRecords(s, suffix), labels: true}
	if err := r.read(); err != nil {
		return nil, err
	}
	l, err := r.classes.labels(names)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// labelLayout is layoutOf for files from which only labels are read.
func labelLayout(first, second []string, s *TableSettings) (*Layout, *Error) {
	header, err := hasHeader(first, second, s)
	if err != nil {
		return nil, err
	}
	l := &Layout{columns: len(first)}
	if header {
		l.Names = first
	}
	if l.Label, err = l.findLabel(s); err != nil || l.Label >= 0 {
		return l, err
	}
	if len(first) == 1 {
		l.Label = 0
		return l, nil
	}
	return nil, failf(ErrFormat, "%d columns, but the line calls none of them %s; "+
		"begin with a line that names the columns, or keep only the column of labels", len(first), strings.Join(labelColumns, ", "))
}
