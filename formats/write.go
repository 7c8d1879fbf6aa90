package formats

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

const (
	writePiece  = 1 << 20 // bytes written between two checks of the context
	maxTempBase = 64      // bytes of the file's name that are repeated in the temporary name
)

// WriteFile writes a file as a whole or not at all: write fills a temporary file in the same
// folder (hidden, random name), which is synced and renamed to path if all goes well. If write
// fails or panics, the disk is full, or ctx ends, the temporary file is removed, the previous
// file is unchanged, and the error wraps the cause.
//
// A new file gets the permissions that the umask allows, an existing one keeps its own (owner
// and hard links are not carried over). A symbolic link stays, and its target is replaced. The
// folder is synced too where the system supports it. If path exists and is not a regular file
// (a terminal, a pipe, /dev/null), and for /dev/stdout and /dev/stderr, the data is written
// straight to it, and is not removed after an error.
//
// The writer passed to write is buffered, returns the context's error once ctx ends, and is not
// safe for concurrent use. Only a killed process leaves the temporary file, and the next call
// for the same path removes it.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	return named(path, writeFile(ctx, path, write))
}

func writeFile(ctx context.Context, path string, write func(io.Writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch path {
	case "/dev/stdout": // by name it could be a regular file, opened again at its start
		return writeTo(ctx, os.Stdout, write)
	case "/dev/stderr":
		return writeTo(ctx, os.Stderr, write)
	}
	target, err := followLinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaceFile(ctx, target, nil, write)
	case err != nil:
		return err
	case info.IsDir():
		return failf(ErrUnsupported, "is a folder, not a file")
	case info.Mode().IsRegular():
		return replaceFile(ctx, target, info, write)
	}
	f, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = writeTo(ctx, f, write)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// followLinks is disk.FollowLinks with an error of this package for a circle.
func followLinks(path string) (string, error) {
	target, err := disk.FollowLinks(path)
	if errors.Is(err, disk.ErrLinks) {
		return "", failf(ErrUnsupported, "%v", disk.ErrLinks)
	}
	return target, err
}

// replaceFile writes a temporary file and renames it. old is nil for a new file.
func replaceFile(ctx context.Context, path string, old fs.FileInfo, write func(io.Writer) error) error {
	f, err := createTemp(path, old)
	if err != nil {
		return err
	}
	done := false
	defer func() { // also when write panics
		if !done {
			f.Remove()
		}
	}()
	if old != nil {
		if err := copyMode(f.File, old); err != nil {
			return err
		}
	}
	if err := writeTo(ctx, &earlySync{f: f.File}, write); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.Rename(path); err != nil {
		return err
	}
	done = true
	syncFolder(path)
	return nil
}

// createTemp creates a file next to path. If it replaces another file, it is private until it
// gets the permissions of that file. Temporary files of killed processes are removed.
func createTemp(path string, old fs.FileInfo) (*disk.TemporaryFile, error) {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600
	}
	dir, base := filepath.Split(path)
	base = strings.ToValidUTF8(base[:min(len(base), maxTempBase)], "")
	return disk.Temporary(dir, "."+base+".privatemail-", perm)
}

// copyMode gives f the permissions of old. File systems without permissions refuse to set them,
// but there both files already have the same.
func copyMode(f *os.File, old fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() == old.Mode().Perm() {
		return err
	}
	return f.Chmod(old.Mode().Perm())
}

// syncFolder makes the rename durable if the system can; the file itself is in place in any
// case.
func syncFolder(path string) {
	dir, _ := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// writeTo runs write on a buffer before w. The context's error counts even if write ignores it.
func writeTo(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, bufferSize)
	if err := write(&contextWriter{ctx, b}); err != nil {
		return &Error{Field: "write", Row: -1, Offset: -1, Err: err} // err may be about another file
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.Flush()
}

// contextWriter fails once its context has ended.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *contextWriter) Write(p []byte) (n int, err error) {
	for {
		if err := c.ctx.Err(); err != nil {
			return n, err
		}
		k, err := c.w.Write(p[:min(len(p), writePiece)])
		n, p = n+k, p[k:]
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err // its path is the temporary file's
		}
		if err != nil || len(p) == 0 {
			return n, err
		}
	}
}
