package remote

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A cache keeps what does not depend on a query, each in a file of its own with its SHA-256
// behind it. Nothing of it is needed: what fails is told and gone on without. An empty
// folder name stands for no cache.
type cache struct {
	folder string
	warn   func(error)
}

// path returns the file of a thing that goes with a codebook or an epoch.
func (c *cache) path(codebook wire.Hash, what string) string {
	return filepath.Join(c.folder, fmt.Sprintf("%x.%s", codebook, what))
}

// holds returns the length of a thing that is kept, -1 if it is not. Its contents are not
// looked at.
func (c *cache) holds(codebook wire.Hash, what string) int64 {
	if c.folder == "" {
		return -1
	}
	info, err := os.Lstat(c.path(codebook, what))
	if err != nil || !info.Mode().IsRegular() || info.Size() < sha256.Size {
		return -1
	}
	return info.Size() - sha256.Size
}

// read returns a thing of at most the given length that check accepts. A file that is
// damaged is removed, so that another takes its place. One that there is no room for is left
// alone.
func (c *cache) read(codebook wire.Hash, what string, most, room int64, check func([]byte) error) (body []byte, ok bool) {
	if c.folder == "" || c.holds(codebook, what) > room {
		return nil, false
	}
	body, err := readSummed(c.path(codebook, what), most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err == nil {
		err = check(body)
	}
	if err != nil {
		c.warn(fmt.Errorf("remote: the cache: the file of the %s is damaged, and is fetched again: %w", what, bare(err)))
		os.Remove(c.path(codebook, what)) // write reports where that fails
		return nil, false
	}
	return body, true
}

// readSummed reads a file with a SHA-256 at its end and returns what is before it.
func readSummed(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() || size < sha256.Size || size-sha256.Size > most {
		return nil, fmt.Errorf("a file of %d bytes", size)
	}
	all := make([]byte, size)
	if _, err := io.ReadFull(f, all); err != nil {
		return nil, err
	}
	body := all[:size-sha256.Size]
	if sum := sha256.Sum256(body); string(sum[:]) != string(all[len(body):]) {
		return nil, wire.ErrChecksum
	}
	return body, nil
}

// write keeps a thing. One that is there already is left as it is.
func (c *cache) write(codebook wire.Hash, what string, body []byte) {
	if c.folder == "" {
		return
	}
	err := os.MkdirAll(c.folder, 0o700)
	if err == nil {
		sum := sha256.Sum256(body)
		err = disk.Create(c.path(codebook, what), body, sum[:])
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		c.warn(fmt.Errorf("remote: the cache: a file of the %s is not kept: %w", what, bare(err)))
	}
}

// forget removes a thing that is too old.
func (c *cache) forget(hash wire.Hash, what string) {
	if c.folder != "" {
		os.Remove(c.path(hash, what)) // write reports where that fails
	}
}

// bare returns an error without the name of a file: the folder is known, and the rest is a
// hash.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
