package formats

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

const (
	maxRecord  = 1 << 23 // largest size of a record in bytes
	maxColumns = 1 << 18 // largest number of fields of a record
)

// records reads a text file of fields: comma-separated values and similar formats. A record is
// a line, or several lines if a field in quotes spans them. Blank lines and lines that begin
// with # are skipped.
type records struct {
	s      *source
	suffix string
	sep    byte  // between fields, 0 for white space; known once a record is read
	line   int64 // where the last record begins, counted from 1
	lines  int64 // read so far
	bytes  int64 // read so far
	text   []byte
	fields [][]byte // of the last record, until the next is read
	long   []byte   // a record in parts
}

func newRecords(s *source, suffix string) *records { return &records{s: s, suffix: suffix} }

// next reads a record. It returns false at the end of the file.
func (r *records) next() (bool, error) {
	for {
		more, err := r.readLine()
		if !more || err != nil {
			return false, err
		}
		r.line = r.lines
		content := bytes.TrimSpace(r.text)
		if len(content) == 0 || content[0] == '#' {
			continue
		}
		if r.fields == nil {
			r.sep = separator(r.suffix, content)
		}
		return true, r.split()
	}
}

// split divides the record that begins with the last line.
func (r *records) split() error {
	if r.sep != 0 {
		if err := r.closeQuotes(); err != nil {
			return err
		}
	}
	var ok bool
	r.fields, ok = splitFields(r.fields[:0], bytes.Trim(r.text, " \r"), r.sep)
	switch {
	case !ok:
		return failf(ErrFormat, "quotes do not match").atLine(r.line)
	case len(r.fields) > maxColumns:
		return failf(ErrUnsupported, "more than %d columns", maxColumns).atLine(r.line)
	}
	return nil
}

// closeQuotes adds lines to the record while a quote is open.
func (r *records) closeQuotes() error {
	open := bytes.Count(r.text, []byte{'"'})%2 == 1
	if !open {
		return nil
	}
	whole := bytes.Clone(r.text)
	for open {
		more, err := r.readLine()
		switch {
		case err != nil:
			return err
		case !more:
			return failf(ErrFormat, "quotes do not match").atLine(r.line)
		case len(whole)+len(r.text) > maxRecord:
			return r.tooLong()
		}
		whole = append(append(whole, '\n'), r.text...)
		open = open != (bytes.Count(r.text, []byte{'"'})%2 == 1)
	}
	r.text = whole
	return nil
}

func (r *records) tooLong() error {
	return failf(ErrFormat, "the line has more than %d bytes", maxRecord).atLine(max(r.line, 1))
}

// readLine reads a line without its end. It returns false at the end of the file.
func (r *records) readLine() (bool, error) {
	r.long = r.long[:0]
	part, err := r.s.r.ReadSlice('\n')
	for err == bufio.ErrBufferFull {
		if len(r.long)+len(part) > cap(r.long) {
			r.long = slices.Grow(r.long, max(len(r.long), len(part))) // twice as much each time
		}
		if r.long = append(r.long, part...); len(r.long) > maxRecord {
			r.line = r.lines + 1
			return false, r.tooLong()
		}
		part, err = r.s.r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return false, streamError(err, -1).atLine(r.lines + 1)
	}
	if len(r.long) > 0 {
		r.long = append(r.long, part...)
		part = r.long
	}
	if len(part) > maxRecord {
		r.line = r.lines + 1
		return false, r.tooLong()
	}
	if len(part) == 0 {
		return false, nil
	}
	r.lines++
	r.bytes += int64(len(part))
	r.text = bytes.TrimSuffix(bytes.TrimSuffix(part, []byte{'\n'}), []byte{'\r'})
	if r.lines == 1 {
		if bytes.HasPrefix(part, []byte("\xff\xfe")) || bytes.HasPrefix(part, []byte("\xfe\xff")) {
			return false, failf(ErrUnsupported, "the text is in UTF-16; save it as UTF-8").atLine(1)
		}
		r.text = bytes.TrimPrefix(r.text, []byte("\ufeff"))
	}
	return true, nil
}

// separator returns the byte between fields, 0 for white space.
func separator(suffix string, first []byte) byte {
	has := func(c byte) bool { return bytes.IndexByte(first, c) >= 0 }
	switch {
	case suffix == ".tsv":
		return '\t'
	case suffix == ".csv" && !has(',') && has(';'):
		return ';'
	case suffix == ".csv" || has(','):
		return ','
	case has('\t'):
		return '\t'
	}
	return 0
}
