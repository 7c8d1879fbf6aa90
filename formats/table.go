package formats

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Table is a matrix with the names of its columns and the labels of its file.
type Table struct {
	Matrix
	Columns []string // names of the columns of Data; nil if there is no header
	Labels  *Labels  // nil if the file has none
}

// TableSettings are the settings of ReadTable. The zero value reads everything with the defaults.
type TableSettings struct {
	// Columns lists the columns of features in text: names, numbers counted from 1, ranges such as
	// 2..65 or a..f, and patterns such as px*, with commas between. The default is every column
	// except that of labels and those whose names suggest row numbers.
	Columns string
	// Label is the column of labels in text, by its name or its number counted from 1. The
	// default is the first column in the header called label, labels, class, target, category,
	// species or y; y counts only if there is no x.
	Label string
	// Header says whether the first line of text names the columns.
	Header Header
	// SkipLabels skips the column of labels. It is not a column of features either.
	SkipLabels bool
	// MissingNaN makes a missing value among the features NaN instead of an error.
	MissingNaN bool
	// Limit is the most bytes that Data may take if it is not mapped; 0 is no limit. It
	// prevents a small compressed file from filling the memory.
	Limit int64
	// Progress gets the number of bytes of text read so far, and the total, 0 if it is unknown.
	Progress func(done, total int64)
}

var textFormats = []format{{".csv", textFamily, noKind}, {".tsv", textFamily, noKind}, {".txt", textFamily, noKind}, {".data", textFamily, noKind}}

// ReadTable reads features, and labels if the same file has them: text (.csv, .tsv, .txt,
// .data, each also with .gz), or any format of ReadMatrix, which has only features. A .npz is
// read as in ReadMatrix. A nil s is the zero value.
//
// Text has a row per record. Fields of .csv are separated by commas, or by semicolons if the
// first line has no comma; of .tsv by tabs; of .txt and .data by commas, tabs or white space,
// as in the first line. Fields may be in double quotes as in RFC 4180. White space around a
// field, blank lines and lines that begin with # are ignored. A value must be a finite decimal
// number. An empty field, or NA, N/A, NaN or null, is a missing value: an error among the
// features, no label among the labels.
//
// ctx is checked from time to time while text is read.
func ReadTable(ctx context.Context, path string, s *TableSettings) (*Table, error) {
	if s == nil {
		s = new(TableSettings)
	}
	var t *Table
	err := withArray(path, matrixFormats, featureArrays, func(src *source, f format) (err error) {
		src.limit = s.Limit
		if f.family == textFamily {
			t, err = readTable(ctx, newRecords(src, f.suffix), s)
			return err
		}
		if s.Columns != "" || s.Label != "" {
			return failf(ErrColumn, "the file has no names of columns; columns can be chosen in .csv, .tsv and .txt")
		}
		d, err := readDense[float32](src, f)
		t = &Table{Matrix: Matrix{d.rows, d.cols, d.data, d.unmap}}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// readTable reads text.
func readTable(ctx context.Context, records *records, s *TableSettings) (*Table, error) {
	r := &tableReader[float32]{ctx: ctx, settings: s, records: records}
	if err := r.read(); err != nil {
		return nil, err
	}
	t := &Table{Matrix: Matrix{r.rows, len(r.layout.Features), r.data(), nil}, Columns: r.columns()}
	if r.layout.Label < 0 || s.SkipLabels {
		return t, nil
	}
	labels, failed := r.classes.labels(true)
	if failed != nil {
		return nil, failed
	}
	t.Labels = labels
	return t, nil
}

// ReadLayout returns how ReadTable would read the columns of a text file, by its first lines.
// It returns nil for a file of another format. s may be nil.
func (s *TableSettings) ReadLayout(path string) (*Layout, error) {
	f, ok := findFormat(textFormats, strings.TrimSuffix(strings.ToLower(path), ".gz"))
	if !ok {
		return nil, nil
	}
	if s == nil {
		s = new(TableSettings)
	}
	var l *Layout
	err := withSource(path, func(src *source) error {
		r := &tableReader[float32]{settings: s, records: newRecords(src, f.suffix)}
		more, err := r.begin()
		if l = r.layout; !more || err != nil {
			return err
		}
		l.Rows = len(r.begun)
		if l.Rows == 1 && l.Names != nil {
			if more, err = r.records.next(); more || err != nil { // ReadTable reports the error
				l.Rows++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// tableReader reads text record by record.
type tableReader[T float] struct {
	ctx      context.Context
	settings *TableSettings
	records  *records
	labels   bool // only labels are read, no features
	layout   *Layout
	classes  classes
	rows     int
	blocks   [][]T // of whole rows; the last one grows
	begun    []record
}

// record is a copy of a record, for the first two.
type record struct {
	fields [][]byte
	line   int64
}

// blockValues is the size of a block. Rows are collected in blocks, so that growing copies nothing.
const blockValues = 1 << 18

// begin reads the first two records and chooses the columns. It returns false for a file
// without records.
func (r *tableReader[T]) begin() (bool, error) {
	var text [2][]string
	for i := range text {
		more, err := r.records.next()
		if err != nil {
			return false, err
		}
		if !more {
			break
		}
		own := record{line: r.records.line}
		text[i] = []string{}
		for _, field := range r.records.fields {
			s := string(field)
			text[i] = append(text[i], s)
			own.fields = append(own.fields, []byte(s))
		}
		r.begun = append(r.begun, own)
	}
	if len(r.begun) == 0 {
		r.layout = &Layout{Label: -1}
		return false, nil
	}
	decide := layoutOf
	if r.labels {
		decide = labelLayout
	}
	var err *Error
	if r.layout, err = decide(text[0], text[1], r.settings); err != nil {
		if err.Line == 0 || r.begun[0].line > 1 {
			err = err.atLine(r.begun[0].line)
		}
		return false, err
	}
	r.layout.Line = r.begun[0].line
	if r.layout.Names != nil {
		r.begun = r.begun[1:]
	}
	return true, nil
}

// read reads all records.
func (r *tableReader[T]) read() error {
	more, err := r.begin()
	if !more || err != nil {
		return err
	}
	for _, rec := range r.begun {
		if err := r.add(rec.fields, rec.line); err != nil {
			return err
		}
	}
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := r.pause(); err != nil {
				return err
			}
		}
		more, err := r.records.next()
		if !more || err != nil {
			return err
		}
		if err := r.add(r.records.fields, r.records.line); err != nil {
			return err
		}
	}
}

// pause checks the context and reports progress.
func (r *tableReader[T]) pause() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.settings.Progress != nil {
		total := int64(0)
		if r.records.s.exact {
			total = r.records.s.size
		}
		r.settings.Progress(r.records.bytes, total)
	}
	return nil
}

// add adds a record as a row.
func (r *tableReader[T]) add(fields [][]byte, line int64) error {
	if len(fields) != r.layout.columns {
		hint := ""
		if r.records.sep == ',' && len(fields) > r.layout.columns && !slices.ContainsFunc(fields, func(f []byte) bool { return !isNumber(string(f)) }) {
			hint = "; a decimal comma counts as a separator here, so write decimal points"
		}
		return failf(ErrFormat, "%d columns, but the first line has %d%s", len(fields), r.layout.columns, hint).atLine(line)
	}
	if c := r.layout.Label; c >= 0 && !r.settings.SkipLabels {
		r.classes.add(fields[c], line)
	}
	if !r.labels {
		if err := r.addValues(fields, line); err != nil {
			return err
		}
	}
	r.rows++
	return nil
}

// addValues adds the features of a record.
func (r *tableReader[T]) addValues(fields [][]byte, line int64) error {
	d := len(r.layout.Features)
	if d == 0 {
		return failf(errShape, "no column of features is left").atLine(line)
	}
	last := len(r.blocks) - 1
	if last < 0 || len(r.blocks[last])+d > cap(r.blocks[last]) {
		if limit := r.settings.Limit; limit > 0 && int64(r.rows+1) > limit/int64(d)/int64(unsafe.Sizeof(T(0))) {
			return failf(ErrLimit, "the rows would take more than %d bytes of memory", limit).atLine(line)
		}
		size := max(blockValues, d)
		if r.records.s.exact { // a value takes at least two bytes of text
			size = min(size, max(d, int(r.records.s.size/2)+d))
		}
		r.blocks = append(r.blocks, make([]T, 0, size))
		last++
	}
	block := r.blocks[last]
	for _, c := range r.layout.Features {
		v, err := parseValue[T](fields[c])
		if err != nil && r.settings.MissingNaN && isMissing(fields[c]) {
			v, err = T(math.NaN()), nil
		}
		if err != nil {
			return r.explain(err, fields[c], c).atLine(line)
		}
		block = append(block, v)
	}
	r.blocks[last] = block
	return nil
}

// explain says what is wrong with a field of column c.
func (r *tableReader[T]) explain(err error, field []byte, c int) *Error {
	switch {
	case isMissing(field):
		return failf(ErrFormat, "column %d has no value; remove the row, fill in the value, or choose other columns", c+1)
	case errors.Is(err, errRange):
		return failf(errRange, "column %d: the number does not fit in %v", c+1, native[T]().kind)
	}
	if what := looksNumeric(field); what != "" {
		return failf(ErrFormat, "column %d %s", c+1, what)
	}
	if r.records.sep == ',' && bytes.IndexByte(field, ';') >= 0 {
		return failf(ErrFormat, "column %d holds a semicolon, but commas separate the fields here; if commas are decimal, write decimal points", c+1)
	}
	return failf(ErrFormat, "column %d is not a finite decimal number; choose the columns of features, or name the column of labels", c+1)
}

// parseValue reads a number under the rules of parseFloat, and rounds once.
func parseValue[T float](field []byte) (T, error) {
	for _, c := range field {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, ErrFormat
		}
	}
	v, err := strconv.ParseFloat(string(field), 8*int(unsafe.Sizeof(T(0))))
	switch {
	case err == nil:
		return T(v), nil
	case math.IsInf(v, 0):
		return 0, errRange
	}
	return 0, ErrFormat
}

// data joins the blocks and releases them.
func (r *tableReader[T]) data() []T {
	if len(r.blocks) == 1 {
		return r.blocks[0]
	}
	all := make([]T, 0, r.rows*len(r.layout.Features))
	for i, block := range r.blocks {
		all = append(all, block...)
		r.blocks[i] = nil
	}
	return all
}

// columns returns the names of the columns of features.
func (r *tableReader[T]) columns() []string {
	if r.layout.Names == nil {
		return nil
	}
	names := make([]string, len(r.layout.Features))
	for i, c := range r.layout.Features {
		names[i] = r.layout.Names[c]
	}
	return names
}
