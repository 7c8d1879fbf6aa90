package formats

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// A SharedFile is a matrix of float32 that several processes write together. One of them calls
// CreateShared and sends the others the name of the temporary file, which they open with
// OpenShared. Each writes its rows and calls Sync. When all have done so, the first one calls
// Rename, or Remove if anything went wrong. So the file appears as a whole or not at all, as
// with WriteFile. The processes must share a file system. A SharedFile is not safe for
// concurrent use.
type SharedFile struct {
	path   string // as the caller gave it
	target string // path without its symbolic links
	old    fs.FileInfo
	f      *os.File
	// temporary is f in the process that made it. It stays locked until the end.
	temporary *disk.TemporaryFile
	format    format
	rows      int
	cols      int
	head      int64 // bytes before the first row
}

// canShare reports whether several processes can write a matrix to path: path is a regular file
// or does not exist, and the ending of its name is not that of a compressed file. CreateShared
// reports other errors of the path.
func canShare(path string) bool {
	if path == "/dev/stdout" || path == "/dev/stderr" || strings.HasSuffix(strings.ToLower(path), ".gz") {
		return false
	}
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// CreateShared makes the temporary file, in its full size and with the header before the rows.
// Endings and errors are those of WriteMatrix, and ErrUnsupported for a compressed file, a stream or
// a device, which only one process can write.
func CreateShared(path string, rows, cols int) (*SharedFile, error) {
	s, head, err := newShared(path, rows, cols)
	if err != nil {
		return nil, named(path, err)
	}
	if s.target, err = followLinks(path); err != nil {
		return nil, named(path, err)
	}
	if s.old, err = os.Stat(s.target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, named(path, err)
	}
	if s.temporary, err = createTemp(s.target, s.old); err != nil {
		return nil, named(path, err)
	}
	s.f = s.temporary.File
	if _, err = s.f.Write(head); err == nil {
		err = s.f.Truncate(s.at(rows))
	}
	if err != nil {
		return nil, errors.Join(named(path, err), s.Remove())
	}
	return s, nil
}

// OpenShared opens the temporary file that another process has made for a matrix at path.
func OpenShared(path, temporary string, rows, cols int) (*SharedFile, error) {
	s, _, err := newShared(path, rows, cols)
	if err != nil {
		return nil, named(path, err)
	}
	if s.f, err = os.OpenFile(temporary, os.O_WRONLY, 0); err != nil {
		failed := systemError(path, err)
		failed.Field = "the temporary file of another process"
		return nil, failed
	}
	return s, nil
}

// newShared returns a SharedFile without its file, and the header before the rows.
func newShared(path string, rows, cols int) (s *SharedFile, head []byte, err error) {
	f, err := writerFor(arrayWriters, path, f4)
	if err != nil {
		return nil, nil, err
	}
	if !canShare(path) {
		return nil, nil, failf(ErrUnsupported, "cannot be written by several processes")
	}
	if rows < 0 || cols < 0 || cols > 0 && rows > math.MaxInt/8/cols {
		return nil, nil, failf(errShape, "%d x %d is not a valid matrix shape", rows, cols)
	}
	if err := checkShape(f, rows, cols, rows*cols); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if err := writeRowsHeader(&b, f, rows, cols); err != nil {
		return nil, nil, err
	}
	return &SharedFile{path: path, format: f, rows: rows, cols: cols, head: int64(b.Len())}, b.Bytes(), nil
}

// at returns where a row begins.
func (s *SharedFile) at(row int) int64 {
	bytes := 4 * int64(s.cols)
	if s.format.family == vecsFamily {
		bytes += vecsHead
	}
	return s.head + int64(row)*bytes
}

// Temporary returns the name of the temporary file.
func (s *SharedFile) Temporary() string { return s.f.Name() }

// WriteRows writes whole rows from the row first on. It returns an ErrFormat for a part of a
// row, and for rows beyond the matrix.
func (s *SharedFile) WriteRows(ctx context.Context, first int, data []float32) error {
	cols := max(s.cols, 1)
	if first < 0 || first > s.rows || len(data)%cols != 0 || len(data)/cols > s.rows-first {
		return named(s.path, failf(errShape, "%d values from row %d on do not fit into %d x %d", len(data), first+1, s.rows, s.cols))
	}
	return named(s.path, writeTo(ctx, io.NewOffsetWriter(s.f, s.at(first)), func(w io.Writer) error {
		if s.format.family == vecsFamily {
			return writeVecs(w, data, s.cols)
		}
		return writeElements(w, data, s.format.family == idxFamily)
	}))
}

// Sync waits until the rows of this process are on the disk, and closes the file.
func (s *SharedFile) Sync() error {
	err := s.f.Sync()
	return named(s.path, errors.Join(err, s.f.Close()))
}

// Rename gives the file its name. The process that called CreateShared calls it after all have
// called Sync.
func (s *SharedFile) Rename() error {
	if s.old != nil {
		if err := s.takeMode(); err != nil {
			return named(s.path, err)
		}
	}
	if err := os.Rename(s.f.Name(), s.target); err != nil {
		return named(s.path, err)
	}
	s.temporary.Close() // this releases the lock
	syncFolder(s.target)
	return nil
}

// takeMode gives the file the permissions of the one that it replaces. It is called last,
// since with them other processes might not be able to open the file for writing.
func (s *SharedFile) takeMode() error {
	f, err := os.Open(s.f.Name())
	if err != nil {
		return err
	}
	return errors.Join(copyMode(f, s.old), f.Close())
}

// Remove closes the temporary file and removes it, if it is still there.
func (s *SharedFile) Remove() error {
	s.f.Close() // its contents do not matter
	if s.temporary != nil {
		defer s.temporary.Close()
	}
	if err := os.Remove(s.f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return named(s.path, err)
	}
	return nil
}
