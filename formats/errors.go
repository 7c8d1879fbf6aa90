package formats

import (
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// The kinds of failure, matched with errors.Is. Every error of this package that is about the
// contents of a file is an *Error wrapping one of them; failures of the operating system wrap its
// error, so errors.Is(err, fs.ErrNotExist) works as usual.
var (
	// ErrFormat reports a file that is not well-formed or shorter than its own header claims,
	// dimensions that do not fit the purpose, such as labels with several columns, a value that the
	// target type cannot hold, and an argument that does not fit, such as a slice of the wrong length.
	ErrFormat = errors.New("formats: malformed file")
	// ErrUnsupported reports something well-formed that this package does not read or write.
	ErrUnsupported = errors.New("formats: not supported")
	// ErrColumn reports a column that the caller names but the file does not have, or that
	// cannot be used as requested.
	ErrColumn = errors.New("formats: wrong column")
	// ErrLimit reports rows that would take more memory than the caller allows.
	ErrLimit = errors.New("formats: too large")
)

// Kinds of ErrFormat.
var (
	errTruncated = errkind.Of(ErrFormat, "formats: truncated file")
	errShape     = errkind.Of(ErrFormat, "formats: wrong shape")
	errRange     = errkind.Of(ErrFormat, "formats: value out of range")
)

// Error says which file failed and where in it. The package comment says what its message may
// show of the file.
type Error struct {
	Path   string // the file, as the caller named it
	Field  string // the part at fault ("header", "shape", "indptr.npy", "open"), or empty
	Row    int64  // row of the matrix, or entry of a vector, counted from 0; -1 when not about a row
	Line   int64  // line of a text file counted from 1; 0 when not about a line
	Offset int64  // bytes from the start of the (uncompressed) data; -1 when not known
	Err    error  // the cause, which wraps one of the sentinels or an error of the system
}

// Error returns "formats: path: place: cause". A row in it counts from 1.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("formats: ")
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	var place []string
	if e.Field != "" {
		place = append(place, e.Field)
	}
	if e.Row >= 0 {
		place = append(place, "row "+strconv.FormatInt(e.Row+1, 10))
	}
	if e.Line > 0 {
		place = append(place, "line "+strconv.FormatInt(e.Line, 10))
	}
	if e.Offset >= 0 {
		place = append(place, "offset "+strconv.FormatInt(e.Offset, 10))
	}
	if len(place) > 0 {
		b.WriteString(strings.Join(place, ", ") + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// detail is an error that matches a sentinel without repeating its text.
type detail struct {
	kind error
	text string
}

func (d *detail) Error() string { return d.text }
func (d *detail) Unwrap() error { return d.kind }

// failf returns an Error of the given kind without a place; the methods below add one, and the
// exported functions add the path.
func failf(kind error, format string, args ...any) *Error {
	return &Error{Row: -1, Offset: -1, Err: &detail{kind, fmt.Sprintf(format, args...)}}
}

func (e *Error) in(field string) *Error { e.Field = field; return e }
func (e *Error) atRow(row int) *Error   { e.Row = int64(row); return e }
func (e *Error) atLine(n int64) *Error  { e.Line = n; return e }
func (e *Error) at(off int64) *Error    { e.Offset = off; return e }

// named adds the path to an error of this package about that file.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		e.Path = path
		return e
	}
	return systemError(path, err)
}

// systemError wraps an error of package os without repeating the path it carries.
func systemError(path string, err error) *Error {
	e := &Error{Path: path, Row: -1, Offset: -1, Err: err}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		e.Field, e.Err = pe.Op, pe.Err
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		e.Field, e.Err = le.Op, le.Err
	}
	return e
}

// streamError classifies an error met while reading at offset off: the end of the data, damage
// found by a decompressor, or a failing device.
func streamError(err error, off int64) *Error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return failf(errTruncated, "the data ends too early").at(off)
	case corrupt, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrAlgorithm):
		return failf(ErrFormat, "damaged compressed data: %v", err).at(off)
	}
	return systemError("", err).at(off)
}
