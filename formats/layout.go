package formats

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Header says whether the first line of a text file names its columns.
type Header uint8

const (
	DetectHeader Header = iota // by the first two lines
	WithHeader                 // the first line has names
	NoHeader                   // the first line has values
)

// Layout says what the columns of a text file hold. Columns are counted from 0.
type Layout struct {
	Line     int64    // of the header or first row, counted from 1; 0 for an empty file
	Names    []string // of all columns; nil without a header
	Features []int    // the columns of features, in the order they are read
	Label    int      // the column of labels, -1 for none
	LeftOut  []int    // columns that are left out because their names suggest row numbers
	Rows     int      // below the header, as far as ReadLayout reads: 2 stands for two or more
	columns  int
}

var (
	// labelColumns are the possible names of a column of labels; the first one found is read.
	labelColumns = []string{"label", "labels", "class", "target", "category", "species", "y"}
	// rowColumns are the names of columns of row numbers; the column of pandas has no name.
	rowColumns = []string{"", "id", "index", "row", "row_id", "rowid", "unnamed: 0"}
)

// layoutOf decides by the first two records what the columns hold. The second may be nil.
func layoutOf(first, second []string, s *TableSettings) (*Layout, *Error) {
	header, err := hasHeader(first, second, s)
	if err != nil {
		return nil, err
	}
	l := &Layout{Label: -1, columns: len(first)}
	if header {
		l.Names = first
	}
	if l.Label, err = l.findLabel(s); err != nil {
		return nil, err
	}
	if s.Columns != "" {
		if l.Features, err = l.parse(s.Columns); err != nil {
			return nil, err
		}
		if slices.Contains(l.Features, l.Label) {
			if s.Label != "" {
				return nil, failf(ErrColumn, "the column of labels is among those of the features; leave it out of one of them")
			}
			l.Label = -1 // a caller who names it wants its values
		}
		return l, nil
	}
	for c := range first {
		switch {
		case c == l.Label:
		case header && isOneOf(l.Names[c], rowColumns):
			l.LeftOut = append(l.LeftOut, c)
		default:
			l.Features = append(l.Features, c)
		}
	}
	return l, nil
}

// isOneOf reports whether a name is in a list, in upper or lower case.
func isOneOf(name string, list []string) bool {
	return slices.ContainsFunc(list, func(want string) bool { return strings.EqualFold(strings.TrimSpace(name), want) })
}

// hasHeader reports whether the first record names columns: it does if it has a requested or
// known name, no number at all, or text where the second record has a number.
func hasHeader(first, second []string, s *TableSettings) (bool, *Error) {
	if s.Header != DetectHeader {
		return s.Header == WithHeader, nil
	}
	numbers := 0
	for _, field := range first {
		if s.Label != "" && field == s.Label && !isNumber(field) || isOneOf(field, labelColumns) {
			return true, nil
		}
		if isNumber(field) {
			numbers++
		}
	}
	if counts(first) {
		return false, failf(ErrFormat, "the line is 0, 1, 2 and so on, which may be names of columns or a row; say whether there is a header").atLine(1)
	}
	if len(first) > 1 && first[0] == "" && counts(first[1:]) {
		return true, nil // pandas numbers rows, and columns from 0
	}
	for c, field := range first {
		if c < len(second) && isText(field) && isNumber(second[c]) {
			return true, nil
		}
	}
	return numbers == 0 && len(first) > 1 && slices.ContainsFunc(first, isText), nil
}

// counts reports whether fields are 0, 1, 2 and so on, at least three of them.
func counts(fields []string) bool {
	for i, field := range fields {
		if field != strconv.Itoa(i) {
			return false
		}
	}
	return len(fields) > 2
}

func isNumber(field string) bool {
	_, err := parseFloat([]byte(field))
	return err != ErrFormat
}

// isText reports whether a field is neither a number nor a missing value.
func isText(field string) bool { return !isNumber(field) && !isMissing([]byte(field)) }

// isMissing reports whether a field stands for no value.
func isMissing(field []byte) bool {
	switch len(field) {
	case 0:
		return true
	case 2, 3, 4:
		for _, word := range []string{"na", "n/a", "nan", "null", "<na>"} {
			if bytes.EqualFold(field, []byte(word)) {
				return true
			}
		}
	}
	return false
}

// findLabel returns the column of labels, or -1 if none is requested and none has a known name.
func (l *Layout) findLabel(s *TableSettings) (int, *Error) {
	if s.Label != "" {
		if c := l.find(s.Label); c >= 0 {
			return c, nil
		}
		return -1, l.unknown(s.Label)
	}
	for _, want := range labelColumns {
		for c, name := range l.Names {
			if strings.EqualFold(name, want) && (want != "y" || !slices.ContainsFunc(l.Names, func(n string) bool { return strings.EqualFold(n, "x") })) {
				return c, nil
			}
		}
	}
	return -1, nil
}

// unknown returns the error about an unknown column that the caller names.
func (l *Layout) unknown(item string) *Error {
	if l.Names == nil {
		return failf(ErrColumn, "there is no column %q: without a header columns are numbers from 1 to %d", item, l.columns)
	}
	return failf(ErrColumn, "there is no column %q among the %d of the header", item, l.columns)
}

// find returns the column with a name, or with a number counted from 1, or -1.
func (l *Layout) find(item string) int {
	if c := l.named(item); c >= 0 {
		return c
	}
	return l.numbered(item)
}

func (l *Layout) named(item string) int {
	if c := slices.Index(l.Names, item); c >= 0 {
		return c
	}
	return slices.IndexFunc(l.Names, func(name string) bool { return strings.EqualFold(name, item) })
}

func (l *Layout) numbered(item string) int {
	if n, ok := parseUint([]byte(item)); ok && n >= 1 && n <= math.MaxInt32 && int(n) <= l.columns {
		return int(n) - 1
	}
	return -1
}

// Layout returns how ReadTable would read a text file with this header; s may be nil. Readers of other
// formats with named columns use it to choose columns.
func (s *TableSettings) Layout(names []string) (*Layout, error) {
	own := TableSettings{Header: WithHeader}
	if s != nil {
		own.Columns, own.Label = s.Columns, s.Label
	}
	l, err := layoutOf(names, nil, &own)
	if err != nil {
		return nil, err
	}
	return l, nil
}
