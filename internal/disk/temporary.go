package disk

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/lock"
)

// ending is the ending of all temporary names.
const ending = ".tmp"

// A TemporaryFile is a file under a temporary name. It is locked while its process lives.
type TemporaryFile struct {
	*os.File
	held *os.File // has the lock; nil if files cannot be locked
}

// Temporary makes a file for writing in a folder, which is "" or ends in a separator. Its name
// is start, a random number and ".tmp". It first removes files with such names that killed
// processes have left, which are those that are not locked. So start should identify the
// program.
func Temporary(folder, start string, perm fs.FileMode) (*TemporaryFile, error) {
	RemoveLeft(folder, start)
	for try := 0; ; try++ {
		var number [8]byte
		rand.Read(number[:]) // never fails
		name := folder + start + strconv.FormatUint(binary.LittleEndian.Uint64(number[:]), 36) + ending
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) && try < 100 {
			continue
		}
		if err != nil {
			return nil, err
		}
		held, taken := holdTemporary(f)
		if taken && try < 100 { // another process removed it in between
			f.Close()
			os.Remove(name)
			continue
		}
		return &TemporaryFile{File: f, held: held}, nil
	}
}

// holdTemporary locks a file that was just made. taken says that another process has locked it
// first.
func holdTemporary(f *os.File) (held *os.File, taken bool) {
	if runtime.GOOS == "windows" {
		return nil, false // an open file cannot be removed there
	}
	held, err := lock.Open(f.Name(), 0)
	if errors.Is(err, lock.ErrHeld) || errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		return nil, false
	}
	made, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(f.Name()); err == nil && os.SameFile(made, named) {
			return held, false
		}
	}
	held.Close()
	return nil, true
}

// Rename gives the file its name and closes it. The caller has synced it.
func (t *TemporaryFile) Rename(path string) error {
	if runtime.GOOS == "windows" { // an open file cannot be renamed there
		if err := t.File.Close(); err != nil {
			return err
		}
	}
	if err := os.Rename(t.Name(), path); err != nil {
		return err
	}
	t.Close() // it is synced; on Windows it is already closed
	return nil
}

// Close closes the file, which keeps its temporary name.
func (t *TemporaryFile) Close() error {
	err := t.File.Close()
	if t.held != nil {
		t.held.Close()
	}
	return err
}

// Remove closes the file, if it is open, and removes it.
func (t *TemporaryFile) Remove() error {
	t.Close() // a second close is harmless
	err := os.Remove(t.Name())
	if errors.Is(err, fs.ErrNotExist) { // the lock is gone, and another process has removed it
		return nil
	}
	return err
}

// RemoveLeft removes the files of Temporary that killed processes have left: those with its
// names that are not locked. It ignores errors.
func RemoveLeft(folder, start string) {
	entries, err := os.ReadDir(filepath.Clean(folder + "."))
	if err != nil {
		return
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), start)
		if !ok || !strings.HasSuffix(number, ending) || !e.Type().IsRegular() {
			continue
		}
		if _, err := strconv.ParseUint(strings.TrimSuffix(number, ending), 36, 64); err != nil {
			continue
		}
		name := folder + e.Name()
		held, err := lock.Open(name, 0)
		if err != nil {
			continue
		}
		if runtime.GOOS == "windows" {
			held.Close()
			os.Remove(name)
			continue
		}
		os.Remove(name)
		held.Close()
	}
}
