package formats

import "strings"

// LabelColumn looks for a column of a text file that seems to hold labels: it has text and no
// numbers, and its texts repeat. Of several columns it returns the one with the fewest
// different texts. column counts from 0 and is -1 if there is none. name is the column's name
// in the header. It is "" without a header, and where the first line is not certain to be one:
// no text is above a number, and Header does not say so. s may be nil. Only the first few thousand rows are read.
func (s *TableSettings) LabelColumn(path string) (column int, name string) {
	f, ok := findFormat(textFormats, strings.TrimSuffix(strings.ToLower(path), ".gz"))
	if !ok {
		return -1, ""
	}
	own := TableSettings{}
	if s != nil {
		own.Header = s.Header
	}
	column = -1
	failed := withSource(path, func(src *source) error {
		r := &tableReader[float32]{settings: &own, records: newRecords(src, f.suffix)}
		more, err := r.begin()
		if !more || err != nil {
			return err
		}
		t := newTexts(r.layout)
		for _, rec := range r.begun {
			t.add(rec.fields)
		}
		for t.rows < mostTextRows {
			more, err := r.records.next()
			if err != nil {
				return err
			}
			if !more {
				break
			}
			t.add(r.records.fields)
		}
		if column = t.repeated(); column >= 0 && r.layout.Names != nil && (own.Header == WithHeader || t.numbers) {
			name = r.layout.Names[column]
		}
		return nil
	})
	if failed != nil {
		return -1, ""
	}
	return column, name
}

const (
	mostTextRows    = 5000 // rows that are read
	mostTextColumns = 64   // columns that are considered
)

// texts are the columns of a file that have had no number so far.
type texts struct {
	layout  *Layout
	columns map[int]*repeats // nil before the first row
	rows    int
	numbers bool // a number is below a text of the header
}

// repeats counts the texts of a column.
type repeats struct {
	seen map[string]bool
	rows int // with a text
}

func newTexts(l *Layout) *texts { return &texts{layout: l} }

// add takes a row. It skips rows of another length; the reader refuses them later.
func (t *texts) add(fields [][]byte) {
	if len(fields) != t.layout.columns {
		return
	}
	t.rows++
	if t.columns == nil {
		t.begin(fields)
	}
	for c, r := range t.columns {
		switch field := fields[c]; {
		case isMissing(field):
		case isNumber(string(field)) || looksNumeric(field) != "":
			delete(t.columns, c)
		default:
			r.rows++
			r.seen[string(field)] = true
		}
	}
}

// begin takes the columns of the first row that are text.
func (t *texts) begin(fields [][]byte) {
	t.columns = make(map[int]*repeats)
	for c, field := range fields {
		text := string(field)
		if t.layout.Names != nil && isNumber(text) && isText(t.layout.Names[c]) {
			t.numbers = true
		}
		if isText(text) && len(t.columns) < mostTextColumns {
			t.columns[c] = &repeats{seen: make(map[string]bool)}
		}
	}
}

// repeated returns the column whose texts repeat most, or -1.
func (t *texts) repeated() int {
	best := -1
	for c, r := range t.columns {
		if len(r.seen) < 2 || len(r.seen) == r.rows || len(r.seen) > max(2, r.rows/2) {
			continue
		}
		if best < 0 || len(r.seen) < len(t.columns[best].seen) || len(r.seen) == len(t.columns[best].seen) && c < best {
			best = c
		}
	}
	return best
}
