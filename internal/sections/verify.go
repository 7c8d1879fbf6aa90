package sections

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"syscall"

	"github.com/seed-64e14a55/privatemail/internal/crc"
	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// atOnce is how many bytes are read between two checks of a context.
const atOnce = 1 << 22

// Verify reads a section and compares its checksum. It stops when ctx ends.
func (f *File) Verify(ctx context.Context, name string) error {
	raw, err := f.Raw(name)
	if err != nil || f.compared {
		return err
	}
	return reading(f.path, func() error { return f.compare(ctx, f.find(name), raw, func([]byte) {}) })
}

// VerifyAll compares the checksums of all sections, and checks that the file was not written to
// since it was opened: bytes that were different for a while may have been used meanwhile. It
// stops when ctx ends. progress, if not nil, is called with the number of bytes read so far and
// of all bytes.
func (f *File) VerifyAll(ctx context.Context, progress func(done, total int64)) error {
	if err := reading(f.path, func() error { return f.readAll(ctx, nil, progress) }); err != nil {
		return err
	}
	return f.unwritten()
}

// unwritten returns an error if the file was written to since it was opened, judging by its
// time and length. Another file with the same name does not matter.
func (f *File) unwritten() error {
	if f.compared || f.info == nil {
		return nil
	}
	info, err := os.Stat(f.path)
	if err != nil { // it was removed or renamed, which changes no byte
		return nil
	}
	if os.SameFile(info, f.info) && (info.Size() != f.info.Size() || !info.ModTime().Equal(f.info.ModTime())) {
		return failf(f.path, ErrDamaged, "it was written to after it was opened")
	}
	return nil
}

// Reading calls read, which reads bytes of the file. If the file is truncated meanwhile it
// returns an ErrDamaged instead of ending the process.
func (f *File) Reading(read func() error) error { return reading(f.path, read) }

// Hash returns the SHA-256 of the whole file, and compares all checksums on the way. It stops
// when ctx ends, and reports progress as VerifyAll does.
func (f *File) Hash(ctx context.Context, progress func(done, total int64)) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if err := reading(f.path, func() error { return f.readAll(ctx, h, progress) }); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// reading is Reading for the file at path.
func reading(path string, read func() error) error {
	err := func() (err error) {
		defer disk.Faults(&err)()
		return read()
	}()
	switch {
	case errors.Is(err, disk.ErrLost):
		return failf(path, ErrDamaged, "%w", err)
	case errors.Is(err, syscall.EFAULT): // the system could not read them for a write to a file
		return failf(path, ErrDamaged, "%w", disk.ErrLost)
	}
	return err
}

// readAll compares all checksums. If h is not nil it gets all bytes, of sections and between
// them, in the order of the file.
func (f *File) readAll(ctx context.Context, h hash.Hash, progress func(done, total int64)) error {
	at := int64(0)
	seen := func(b []byte) {
		if at += int64(len(b)); h != nil {
			h.Write(b) // never fails
		}
		if progress != nil {
			progress(at, f.Size())
		}
	}
	for i := range f.sections {
		s := &f.sections[i]
		raw, err := f.Raw(s.name)
		if err != nil {
			return err
		}
		seen(f.data[at:s.offset]) // the head or zeros, which parse has checked
		if err := f.compare(ctx, s, raw, seen); err != nil {
			return err
		}
	}
	seen(f.data[at:]) // the table
	return nil
}

// compare compares the checksum of a section with its bytes, and passes these to seen block by
// block.
func (f *File) compare(ctx context.Context, s *section, raw []byte, seen func([]byte)) error {
	var sum crc.Pair
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sections: %s: section %q: %w", f.path, s.name, err)
		}
		block := raw[:min(len(raw), atOnce)]
		sum.Write(block)
		seen(block)
		if raw = raw[len(block):]; len(raw) == 0 {
			break
		}
	}
	if !bytes.Equal(sum.Sum(nil), s.sum[:]) {
		return failf(f.path, ErrDamaged, "the checksum of section %q is wrong", s.name)
	}
	return nil
}
