package client

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// A Key stands for one record under one codebook and one price, and for who paid.
type Key [sha256.Size]byte

// A Memory keeps what was released. A record that is asked for again by who has
// paid for it gets the same message, which discloses nothing new but that it was
// asked again; a fresh one would spend the budget again. Clients and ledgers may
// share a memory: each gets what it has paid for itself.
//
// Implementations are safe for concurrent use.
type Memory interface {
	// Recall returns what is kept under a key, nil if nothing is.
	Recall(key Key) ([]byte, error)
	// Ready tries whether Keep can be expected to work. It is called before the
	// budget is spent on a message to keep.
	Ready() error
	// Keep stores a message unless one is there already, durably if that is the
	// memory's kind, and returns the one that is there.
	Keep(key Key, message []byte) ([]byte, error)
}

// NewMemory returns a memory that lasts as long as the program.
func NewMemory() Memory { return &volatile{kept: make(map[Key][]byte)} }

type volatile struct {
	mutex sync.Mutex
	kept  map[Key][]byte
}

func (v *volatile) Recall(key Key) ([]byte, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return bytes.Clone(v.kept[key]), nil
}

func (v *volatile) Ready() error { return nil }

func (v *volatile) Keep(key Key, message []byte) ([]byte, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if _, there := v.kept[key]; !there {
		v.kept[key] = bytes.Clone(message)
	}
	return bytes.Clone(v.kept[key]), nil
}

// A Folder is a memory in files, one for each key, that several processes may
// share. A file is complete on the disk before it has its name, and never
// changes afterwards. Names are hashes, but who can read the folder, and knows the
// number of the ledger where there is one, can test whether a record of a guessed
// name was asked for: keep it as private as the names.
type Folder struct{ path string }

// OpenFolder returns the memory in a folder, which is made if it is not there.
// Removing it, or a file of it, makes the next release of a record a new spend.
func OpenFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("client: %w: %w", ErrMemory, err)
	}
	return &Folder{path: path}, nil
}

// maxKept is more than any message that is kept.
const maxKept = 1 << 24

func (f *Folder) file(key Key) string {
	return filepath.Join(f.path, hex.EncodeToString(key[:])+".release")
}

// Recall implements Memory.
func (f *Folder) Recall(key Key) ([]byte, error) {
	info, err := os.Lstat(f.file(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, memoryError(err)
	case !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxKept:
		return nil, memoryError(errors.New("a file of it is damaged"))
	}
	message, err := os.ReadFile(f.file(key))
	if err != nil {
		return nil, memoryError(err)
	}
	return message, nil
}

// Keep implements Memory.
func (f *Folder) Keep(key Key, message []byte) ([]byte, error) {
	err := f.put(f.file(key), message)
	if errors.Is(err, fs.ErrExist) {
		return f.Recall(key)
	}
	if err != nil {
		return nil, memoryError(err)
	}
	return bytes.Clone(message), nil
}

// Ready implements Memory: a file is put into the folder and removed. There may
// be no room all the same for the next one.
func (f *Folder) Ready() error {
	trial := filepath.Join(f.path, "try-"+rand.Text())
	err := f.put(trial, make([]byte, 4096))
	if gone := os.Remove(trial); err == nil {
		err = gone
	}
	if err != nil {
		return memoryError(err)
	}
	return nil
}

// put makes a file that is complete on the disk when it gets its name. The error
// is fs.ErrExist when there is one of that name.
func (f *Folder) put(name string, message []byte) error {
	temporary, err := os.CreateTemp(f.path, "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(message)
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, does not replace what another process has kept
	// in the meantime.
	if err := os.Link(temporary.Name(), name); err != nil {
		return err
	}
	return disk.SyncFolder(f.path)
}

// memoryError leaves the names of files out: they are hashes of the names of
// records, which whoever reads the error could guess and test.
func memoryError(err error) error {
	var named *fs.PathError
	var linked *os.LinkError
	switch {
	case errors.As(err, &named):
		err = fmt.Errorf("%s: %w", named.Op, named.Err)
	case errors.As(err, &linked):
		err = fmt.Errorf("%s: %w", linked.Op, linked.Err)
	}
	return fmt.Errorf("client: %w: %w", ErrMemory, err)
}
