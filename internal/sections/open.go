package sections

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// File is an open file of sections. After Open it shows the current file: a program that
// overwrites it in place changes the contents, and after a program truncates it, lost bytes are
// zeros or faults. Write replaces files and does neither. After Load it shows the file as it
// was.
type File struct {
	path     string
	data     []byte
	release  func() error
	kind     string
	version  int
	sections []section
	compared bool        // all checksums were compared, and the bytes cannot change
	info     os.FileInfo // when it was opened; nil for bytes without a file
	closed   bool
}

// IsOurs reports whether a file begins like those of Write, by its first 8 bytes or more.
func IsOurs(begin []byte) bool { return bytes.HasPrefix(begin, []byte(magic)) }

// Open opens a file of a kind, or of any kind if kind is "". Errors match ErrForeign, ErrKind,
// ErrVersion if the container has another version, or ErrDamaged, or are those of the system.
func Open(path, kind string) (*File, error) { return openBy(path, kind, disk.Load) }

// openBy opens a file whose bytes load returns.
func openBy(path, kind string, load func(file *os.File, size int) (data []byte, release func() error, err error)) (*File, error) {
	info, err := os.Stat(path) // before opening, which would wait on a pipe
	if err != nil {
		return nil, systemError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, failf(path, ErrForeign, "it is not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, systemError(path, err)
	}
	defer file.Close() // loaded data stays valid
	if info, err = file.Stat(); err != nil {
		return nil, systemError(path, err)
	}
	if info.Size() > math.MaxInt {
		return nil, fmt.Errorf("sections: %s: %w: its %d bytes are more than this machine can address", path, errors.ErrUnsupported, info.Size())
	}
	begin := make([]byte, min(info.Size(), headSize))
	if _, err := file.ReadAt(begin, 0); err != nil {
		return nil, systemError(path, err)
	}
	if err := checkHead(path, begin, kind); err != nil { // before a whole foreign file is read
		return nil, err
	}
	data, release, err := load(file, int(info.Size()))
	if err != nil {
		return nil, systemError(path, err)
	}
	var f *File
	if err := reading(path, func() (err error) { f, err = parse(path, data); return err }); err != nil {
		return nil, errors.Join(err, release())
	}
	f.release, f.info = release, info
	return f, nil
}

// systemError wraps an error so that it names the file once.
func systemError(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("sections: %s: %w", path, err)
}

// checkHead checks the first bytes of a file, at most those of a head.
func checkHead(path string, head []byte, kind string) error {
	switch {
	case !IsOurs(head):
		return failf(path, ErrForeign, "it begins with other bytes")
	case len(head) < headSize:
		return failf(path, ErrDamaged, "it ends within its head")
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != containerVersion {
		return failf(path, ErrVersion, "the container has version %d, this program reads %d", v, containerVersion)
	}
	found, ok := kindOf(head)
	if v := binary.LittleEndian.Uint32(head[12:]); !ok || v < 1 || v > math.MaxInt32 {
		return failf(path, ErrDamaged, "its head")
	}
	if kind != "" && found != kind {
		return failf(path, ErrKind, "a %s, not a %s", found, kind)
	}
	return nil
}

// Parse is Open for bytes in memory, of a file of any kind. Errors name path. The bytes must
// not change while the File is in use.
func Parse(path string, data []byte) (*File, error) {
	f, err := parse(path, data)
	if err != nil {
		return nil, err
	}
	f.release = func() error { return nil }
	return f, nil
}

// parse checks the bytes of a file outside of sections.
func parse(path string, data []byte) (*File, error) {
	if err := checkHead(path, data[:min(len(data), headSize)], ""); err != nil {
		return nil, err
	}
	if len(data) < headSize+tailSize || string(data[len(data)-8:]) != lastMagic {
		return nil, failf(path, ErrDamaged, "its end is missing")
	}
	head, size := data[:headSize], int64(len(data))
	tail := data[size-tailSize:]
	offset, length := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint64(tail[8:])
	if length > largestTable || offset < headSize || offset > uint64(size) || int64(offset)+int64(length)+tailSize != size {
		return nil, failf(path, ErrDamaged, "its table is not at the place its end gives")
	}
	table := data[offset:][:length]
	if !bytes.Equal(appendTail(nil, head, table, int64(offset)), tail) {
		return nil, failf(path, ErrDamaged, "the checksum of its table is wrong")
	}
	kind, _ := kindOf(head)
	f := &File{path: path, data: data, kind: kind, version: int(binary.LittleEndian.Uint32(head[12:]))}
	if err := f.readTable(table, int64(offset)); err != nil {
		return nil, err
	}
	return f, nil
}

// readTable reads a table that begins at an offset. Sections follow each other, so the place
// of each is known from the one before, and they cannot overlap.
func (f *File) readTable(table []byte, offset int64) error {
	end := int64(headSize)
	for len(table) > 0 {
		i := len(f.sections)
		name := int(table[0])
		if i == mostSections || len(table) < name+entrySize {
			return failf(f.path, ErrDamaged, "entry %d of its table", i+1)
		}
		s := section{name: string(table[1:][:name])}
		table = table[1+name:]
		begin, length := binary.LittleEndian.Uint64(table), binary.LittleEndian.Uint64(table[8:])
		copy(s.sum[:], table[16:])
		table = table[entrySize-1:]
		switch {
		case !validName(s.name, longestName) || f.find(s.name) != nil:
			return failf(f.path, ErrDamaged, "the name of section %d", i+1)
		case begin != uint64(aligned(end)) || begin > uint64(offset) || length > uint64(offset)-begin:
			return failf(f.path, ErrDamaged, "the place of section %q", s.name)
		case !zeros(f.data[end:begin]):
			return failf(f.path, ErrDamaged, "the bytes before section %q", s.name)
		}
		s.offset, s.length = int64(begin), int64(length)
		end = s.offset + s.length
		f.sections = append(f.sections, s)
	}
	if aligned(end) != offset || !zeros(f.data[end:offset]) {
		return failf(f.path, ErrDamaged, "the bytes before its table")
	}
	return nil
}

func (f *File) find(name string) *section {
	if i := slices.IndexFunc(f.sections, func(s section) bool { return s.name == name }); i >= 0 {
		return &f.sections[i]
	}
	return nil
}

// Kind returns the kind of the file.
func (f *File) Kind() string { return f.kind }

// Version returns the version of the file's kind.
func (f *File) Version() int { return f.version }

// CheckVersion returns an ErrVersion unless the file has the given version.
func (f *File) CheckVersion(version int) error {
	if f.version == version {
		return nil
	}
	return failf(f.path, ErrVersion, "a %s of version %d, this program reads %d", f.kind, f.version, version)
}

// Damagedf returns an ErrDamaged about the file, for readers that find inconsistent sections.
func (f *File) Damagedf(format string, args ...any) error {
	return failf(f.path, ErrDamaged, format, args...)
}

// Names returns the names of the sections, in the order of the file.
func (f *File) Names() []string {
	names := make([]string, len(f.sections))
	for i, s := range f.sections {
		names[i] = s.name
	}
	return names
}

// Has reports whether there is a section with a name.
func (f *File) Has(name string) bool { return f.find(name) != nil }

// Size returns the length of the file in bytes.
func (f *File) Size() int64 { return int64(len(f.data)) }

// Raw returns the bytes of a section. Its checksum is not compared. The bytes are a view of the
// file, must not be changed, and are invalid after f is closed.
func (f *File) Raw(name string) ([]byte, error) {
	s := f.find(name)
	switch {
	case f.closed:
		return nil, systemError(f.path, fs.ErrClosed)
	case s == nil:
		return nil, failf(f.path, ErrDamaged, "section %q is missing", name)
	}
	return f.data[s.offset:][:s.length:s.length], nil
}

// Bytes is Raw, but compares the checksum.
func (f *File) Bytes(name string) ([]byte, error) {
	if err := f.Verify(context.Background(), name); err != nil {
		return nil, err
	}
	return f.Raw(name)
}

// JSON reads a section of JSON into v and compares its checksum.
func (f *File) JSON(name string, v any) error {
	text, err := f.Bytes(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("sections: %s: %w: section %q: %w", f.path, ErrDamaged, name, err)
	}
	return nil
}

// Message reads a section in the binary form of m into m and compares its checksum.
func (f *File) Message(name string, m encoding.BinaryUnmarshaler) error {
	data, err := f.Bytes(name)
	if err != nil {
		return err
	}
	if err := m.UnmarshalBinary(data); err != nil {
		return fmt.Errorf("sections: %s: %w: section %q: %w", f.path, ErrDamaged, name, err)
	}
	return nil
}

// Close releases the file and all data returned from it. Only the first call has an
// effect.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed, f.data = true, nil
	if err := f.release(); err != nil {
		return systemError(f.path, err)
	}
	return nil
}
