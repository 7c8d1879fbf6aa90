package client

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// A Folder is a memory in files, which several processes may share, a Locker and a
// CodebookMemory.
//
// What is kept is added to one of 16 logs, "releases-0.log" to "releases-f.log", by the
// first digit of its key: the message and 56 bytes. An entry is synced to the disk before
// it is served. It never changes, and each key has one: there is nothing to compact. An
// entry that a crash has cut off was never served, and is taken off. A log that somebody has
// cut short looks the same, and so does one that ends in zeros; what it has lost is paid for
// again. Any other damage is ErrMemory for all keys of that log but those ahead of the
// damage: nothing is released for them. The index of a log is read when one of its keys is
// first asked for, and takes some 60 bytes of memory for each entry. Files with ".release"
// at the end of their names are of an earlier format, one for each key. They are read and
// never written.
//
// The file "codebooks" has the hashes of the codebooks under which records were released, a
// line for each, and is added to before the first of them spends. Files with "codebook-" at the
// beginning of their names are of an earlier format, and are read as well.
//
// The file "key" has the memory's secret. It is made once. Whoever removes it makes all that is
// kept unknown: that is ErrMemory, and so is damage.
//
// The files "lock-00" to "lock-ff" are empty. Who holds a key has locked the one with the
// first two digits of the key, so keys that share these wait for each other. The lock ends
// with the process, however that ends, and the file means nothing then. On a network file
// system a lock is only as good as that system's. Where files cannot be locked at all, as
// on plan9, a Folder does not work. Other files in the folder are left alone; one whose name
// begins with "try-" is what a crash has left of Ready, and the next OpenFolder removes it.
//
// The folder holds keyed hashes, and neither names nor rows. But who can read all of it, and knows
// the number of the ledger where there is one, can test whether a guessed name or row was asked
// for, and sees sets that were drawn and are not paid for, which no ledger counts. Let
// nobody else read it.
//
// Who removes the folder or one of its logs, or puts back an old copy, makes the next
// release of each record that is lost a new spend. So it is with two copies that are both
// used. Where there is a ledger it counts each of these spends. Remove no file while a
// program uses the folder. Logs cannot be joined: their entries know their places.
type Folder struct {
	path  string
	logs  [logCount]keyLog
	locks turns[byte]

	mutex  sync.Mutex // guards what follows
	opened bool       // the file of the secret
	secret [secretSize]byte
	before bool // see Secret
}

const logCount = 16

// trialName begins the names of files that Ready writes.
const trialName = "try-privatemail-"

// OpenFolder returns the memory in a folder, which is made if it is not there.
func OpenFolder(path string) (*Folder, error) {
	if err := makeFolder(path, disk.SyncFolder); err != nil {
		return nil, fmt.Errorf("client: %w: %w", ErrMemory, err)
	}
	disk.RemoveLeft(path+string(filepath.Separator), trialName)
	disk.RemoveLeft(path+string(filepath.Separator), disk.NewFile)
	f := &Folder{path: path}
	for i := range f.logs {
		f.logs[i].number, f.logs[i].path = i, filepath.Join(path, fmt.Sprintf("releases-%x.log", i))
	}
	return f, nil
}

// makeFolder makes a folder and those above it, and has sync put their names on the disk.
func makeFolder(path string, sync func(folder string) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	var above []string // of each folder that is not there
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		above = append(above, filepath.Dir(at))
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, folder := range above {
		if err := sync(folder); err != nil {
			return err
		}
	}
	return nil
}

// Check reads all logs, and returns what is wrong with which. Nobody needs to call it:
// a program that does when it starts knows before its first release, and later calls find
// the indexes read.
func (f *Folder) Check() error {
	var all [logCount]error
	var wait sync.WaitGroup
	for i := range f.logs {
		wait.Go(func() {
			if err := f.logs[i].refresh(); err != nil {
				all[i] = fmt.Errorf("%w (%s)", memoryError(err), filepath.Base(f.logs[i].path))
			}
		})
	}
	wait.Wait()
	return errors.Join(all[:]...)
}

// log returns the log that a key belongs to.
func (f *Folder) log(key Key) *keyLog { return &f.logs[key[0]>>4] }

// Recall implements Memory.
func (f *Folder) Recall(key Key) ([]byte, error) {
	message, err := f.log(key).recall(key)
	if err == nil && message == nil {
		message, err = f.older(key)
	}
	if err != nil {
		return nil, memoryError(err)
	}
	return message, nil
}

// Keep implements Memory.
func (f *Folder) Keep(key Key, message []byte) ([]byte, error) {
	kept, err := f.log(key).keep(key, message, f.older)
	if err != nil {
		return nil, memoryError(err)
	}
	return bytes.Clone(kept), nil
}

// Ready implements Memory: all logs that are there can be written to, and a file whose name
// begins with "try-" is written in the folder and removed. There may be no room all the
// same for what is kept next.
func (f *Folder) Ready() error {
	if err := f.secretThere(); err != nil {
		return memoryError(err)
	}
	for i := range f.logs {
		if err := f.logs[i].ready(); err != nil {
			return memoryError(err)
		}
	}
	trial, err := disk.Temporary(f.path+string(filepath.Separator), trialName, 0o600)
	if err != nil {
		return memoryError(err)
	}
	_, err = trial.Write(make([]byte, 4096))
	if err = errors.Join(err, trial.Remove()); err != nil {
		return memoryError(err)
	}
	return nil
}

// Lock implements Locker.
func (f *Folder) Lock(ctx context.Context, key Key) (unlock func(), err error) {
	give, err := f.locks.take(ctx, key[0])
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	held, err := openHeld(ctx, filepath.Join(f.path, fmt.Sprintf("lock-%02x", key[0])))
	if err != nil {
		give()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("client: %w", ctx.Err())
		}
		return nil, memoryError(err)
	}
	return func() {
		held.Close() // nothing was written
		give()
	}, nil
}

// releaseEnding ends the names of files of the earlier format.
const releaseEnding = ".release"

// file returns the name of a file of the earlier format.
func (f *Folder) file(key Key) string {
	return filepath.Join(f.path, hex.EncodeToString(key[:])+releaseEnding)
}

// older returns what a file of the earlier format holds, nil if there is none.
func (f *Folder) older(key Key) ([]byte, error) {
	info, err := os.Lstat(f.file(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxKept:
		return nil, errDamaged
	}
	return os.ReadFile(f.file(key))
}
