package sections

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/crc"
)

// Write makes a file of a kind, in a version of that kind. The file is written under a
// temporary name, synced and renamed: if fill fails or ctx ends, an earlier file is
// unchanged. A kind is up to 16 small letters, digits, hyphens and dots. Errors are that of
// fill, that of ctx, and those of the system.
func Write(ctx context.Context, path, kind string, version int, fill func(w *Writer) error) error {
	return formats.WriteFile(ctx, path, func(to io.Writer) error { return WriteTo(to, kind, version, fill) })
}

// WriteTo writes the bytes of a file of Write to a writer, for example in tests.
func WriteTo(to io.Writer, kind string, version int, fill func(w *Writer) error) error {
	switch {
	case !validName(kind, kindSize):
		return fmt.Errorf("sections: the kind is not a name of at most %d small letters", kindSize)
	case version < 1 || int64(version) > math.MaxInt32:
		return fmt.Errorf("sections: version %d is out of range", version)
	}
	w := &Writer{to: to, head: appendHead(nil, kind, uint32(version))}
	if err := w.write(w.head); err != nil {
		return err
	}
	if err := fill(w); err != nil {
		return err
	}
	return w.finish()
}

// Writer writes the sections of a file, one after the other. It is not safe for concurrent
// use. After an error its methods return that error.
type Writer struct {
	to       io.Writer
	head     []byte
	at       int64 // bytes written
	sections []section
	open     bool // a section is being written
	err      error
}

func (w *Writer) write(p []byte) error {
	n, err := w.to.Write(p)
	w.at += int64(n)
	return err
}

// fail keeps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return w.err
}

// pad writes zeros up to the next section.
func (w *Writer) pad() error { return w.write(make([]byte, aligned(w.at)-w.at)) }

// Section writes a section with the bytes that fill writes. Its name is up to 64 small
// letters, digits, hyphens and dots, and unique in the file.
func (w *Writer) Section(name string, fill func(io.Writer) error) error {
	if w.err != nil {
		return w.err
	}
	switch {
	case w.open:
		return w.fail(fmt.Errorf("sections: section %q begins within another one", name))
	case !validName(name, longestName):
		return w.fail(fmt.Errorf("sections: the name of section %d is not one of at most %d small letters", len(w.sections)+1, longestName))
	case slices.ContainsFunc(w.sections, func(s section) bool { return s.name == name }):
		return w.fail(fmt.Errorf("sections: section %q occurs twice", name))
	case len(w.sections) == mostSections:
		return w.fail(fmt.Errorf("sections: section %q exceeds the limit of %d sections", name, mostSections))
	}
	if err := w.pad(); err != nil {
		return w.fail(err)
	}
	part := &sectionWriter{w: w}
	begin := w.at
	w.open = true
	err := fill(part)
	w.open, part.w = false, nil
	if err != nil {
		return w.fail(err)
	}
	s := section{name: name, offset: begin, length: w.at - begin}
	part.sum.Sum(s.sum[:0])
	w.sections = append(w.sections, s)
	return w.err
}

// sectionWriter computes the checksum of the bytes written through it.
type sectionWriter struct {
	w   *Writer // nil once the section has ended
	sum crc.Pair
}

func (s *sectionWriter) Write(p []byte) (int, error) {
	if s.w == nil {
		return 0, fmt.Errorf("sections: a write after the end of a section")
	}
	if s.w.err != nil {
		return 0, s.w.err
	}
	before := s.w.at
	err := s.w.write(p)
	n := int(s.w.at - before)
	s.sum.Write(p[:n])
	if err != nil {
		return n, s.w.fail(err)
	}
	return n, nil
}

// Bytes writes a section with the given bytes.
func (w *Writer) Bytes(name string, data []byte) error {
	return w.Section(name, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}

// JSON writes a section with v as JSON.
func (w *Writer) JSON(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return w.fail(fmt.Errorf("sections: section %q: %w", name, err))
	}
	return w.Bytes(name, text)
}

// Message writes a section with the binary form that m writes.
func (w *Writer) Message(name string, m io.WriterTo) error {
	return w.Section(name, func(to io.Writer) error {
		_, err := m.WriteTo(to)
		return err
	})
}

// finish writes the table and the tail.
func (w *Writer) finish() error {
	if w.err != nil {
		return w.err
	}
	if err := w.pad(); err != nil {
		return err
	}
	table := appendTable(nil, w.sections)
	return w.write(appendTail(table, w.head, table, w.at))
}
