package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// NewFile is the beginning of the temporary names of Create; see RemoveLeft.
const NewFile = ".privatemail-new-"

// Create makes a file from pieces, one after the other. Only its owner can read it. The file is
// complete on the disk before it gets its name: a crash leaves the whole file or none. An
// existing file is never replaced; the error then matches fs.ErrExist.
//
// A crash can leave a temporary file in the folder, whose name begins with
// ".privatemail-new-". Nothing reads it, and the next call for the folder removes it.
//
// If only the folder cannot be synced, the file stays and the error says so: another
// process may already use it.
//
// On a file system without hard links the file is made under its own name, and a crash
// can leave a part of it.
func Create(path string, pieces ...[]byte) error {
	return create(path, pieces, func(string) error { return nil })
}

// create calls before at the beginning of each step. If before fails, the step fails.
func create(path string, pieces [][]byte, before func(step string) error) error {
	folder := filepath.Dir(path)
	err := before("create")
	if err != nil {
		return err
	}
	named, _ := filepath.Split(path)
	temporary, err := Temporary(named, NewFile, 0o600)
	if err != nil {
		return err
	}
	defer temporary.Remove() // the file is gone by then, unless a step failed
	if err := fill(temporary.File, pieces, before); err != nil {
		return err
	}
	// A link, unlike a rename, does not replace a file made in the meantime.
	if err = before("link"); err == nil {
		err = os.Link(temporary.Name(), path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = createInPlace(path, pieces, before)
	}
	if err != nil {
		return err
	}
	os.Remove(temporary.Name()) // it does no harm if it stays
	if err = before("sync folder"); err == nil {
		err = SyncFolder(folder)
	}
	if err != nil {
		return &unsyncedError{err}
	}
	return nil
}

// fill writes a file, syncs it and closes it.
func fill(f *os.File, pieces [][]byte, before func(step string) error) error {
	err := before("write")
	for _, piece := range pieces {
		if err == nil {
			_, err = f.Write(piece)
		}
	}
	if err == nil {
		err = before("sync")
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = before("close")
	}
	return err
}

// createInPlace is for file systems without hard links. Other processes may read a part
// of the file before it is complete.
func createInPlace(path string, pieces [][]byte, before func(step string) error) error {
	err := before("create in place")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fill(f, pieces, before); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

type unsyncedError struct{ err error }

func (e *unsyncedError) Error() string {
	return "the file exists, but a crash could lose its name: " + e.err.Error()
}

func (e *unsyncedError) Unwrap() error { return e.err }
