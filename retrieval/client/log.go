package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/internal/lock"
)

// A keyLog is one file of a Folder, with an index in memory of what is known to be in it
// and on the disk. Whoever adds an entry holds the file; to read takes no lock, since
// entries never change.
type keyLog struct {
	path   string
	number int

	writing turns[struct{}] // of this process; other processes are kept out by the file
	reading sync.Mutex      // one goroutine at a time brings the index up to date
	index   sync.RWMutex    // guards what follows
	places  map[shortKey]int64
	end     int64 // of what the index knows
	failed  error // of a write, after which it is not known what the disk holds
}

// A shortKey is the part of a key that the index has. The log has the whole.
type shortKey [16]byte

// find returns where the entry of a key begins, 0 if there is none.
func (l *keyLog) find(key Key) int64 {
	l.index.RLock()
	defer l.index.RUnlock()
	return l.places[shortKey(key[:])]
}

// state returns how far the index goes. After a write that failed it is an error.
func (l *keyLog) state() (end int64, err error) {
	l.index.RLock()
	defer l.index.RUnlock()
	if l.failed != nil {
		return 0, fmt.Errorf("an earlier write failed, open it again: %w", l.failed)
	}
	return l.end, nil
}

// recall returns the message of a key, nil if there is none.
func (l *keyLog) recall(key Key) ([]byte, error) {
	at := l.find(key)
	if at == 0 {
		err := l.refresh()
		if at = l.find(key); at == 0 {
			return nil, err
		}
	}
	f, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readEntry(f, at, key)
}

// readEntry returns the message of the entry at a place, which is that of a key.
func readEntry(f io.ReaderAt, at int64, key Key) ([]byte, error) {
	placed := append(appendPlace(nil, at), make([]byte, entryHead)...)
	if _, err := f.ReadAt(placed[placeSize:], at); err != nil {
		return nil, fmt.Errorf("a file of it was cut off: %w", err)
	}
	length := entryLength(placed)
	if length == 0 {
		return nil, errDamaged
	}
	placed = slices.Grow(placed, length)[:placeSize+length]
	if _, err := f.ReadAt(placed[placeSize:], at); err != nil {
		return nil, fmt.Errorf("a file of it was cut off: %w", err)
	}
	found, message, ok := openEntry(placed)
	if !ok || found != key {
		return nil, errDamaged
	}
	return message, nil
}

var errDamaged = errors.New("a file of it is damaged: put back a copy, or remove the file, and what it held is paid for again; Folder.Check says which file")

// refresh takes up what others have added since. What cannot be read without the lock,
// because somebody is adding it or a crash has left it, is looked at once more with it.
func (l *keyLog) refresh() error {
	whole, err := l.readOn()
	if whole || err != nil {
		return err
	}
	f, release, err := l.hold()
	if err != nil {
		return err
	}
	defer release()
	return l.mend(f)
}

// readOn takes up what is new, and reports whether that was all of the file.
func (l *keyLog) readOn() (whole bool, err error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	end, err := l.state()
	if err != nil {
		return false, err
	}
	info, err := os.Lstat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && end == 0:
		return true, l.folderThere()
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, errDamaged
	case info.Size() == end:
		return true, nil
	}
	f, err := os.OpenFile(l.path, os.O_RDWR, 0) // what cannot be written to is of no use
	if err != nil {
		// On Windows whoever adds an entry keeps all others out. What else may be wrong
		// is found when the file is opened with the lock.
		return false, nil
	}
	defer f.Close()
	return l.take(openLog{f}, end)
}

// folderThere reports whether the folder of a log that is not there is.
func (l *keyLog) folderThere() error {
	_, err := os.Stat(filepath.Dir(l.path))
	return err
}

// take adds the entries from a place on to the index, once they are on the disk: whoever
// wrote them may have died before they were. It reports whether it came to the end.
func (l *keyLog) take(f logFile, from int64) (whole bool, err error) {
	size, err := f.Size()
	if err != nil {
		return false, err
	}
	if size < from {
		return false, errors.New("a file of it has lost its end since it was read; open it again")
	}
	first := from == 0
	if first {
		if there, err := readHeader(f, l.number); err != nil || !there {
			return size == 0, err
		}
		from = logHeader
	}
	places := make(map[shortKey]int64)
	end, err := readEntries(f, from, size, func(at int64, key Key) {
		if short := shortKey(key[:]); places[short] == 0 {
			places[short] = at
		}
	})
	if err != nil {
		return false, err
	}
	if err = f.Sync(); err == nil && first {
		err = disk.SyncFolder(filepath.Dir(l.path)) // whoever made the log may have died before
	}
	if err != nil {
		return false, err
	}
	l.add(places, end)
	return end == size, nil
}

// add adds places to the index, which goes up to end then. The first place of a key stays.
func (l *keyLog) add(places map[shortKey]int64, end int64) {
	l.index.Lock()
	defer l.index.Unlock()
	if len(l.places) == 0 {
		l.places = places
	} else {
		for key, at := range places {
			if l.places[key] == 0 {
				l.places[key] = at
			}
		}
	}
	l.end = max(l.end, end)
}

// hold opens the log, which is made if it is not there, and keeps other writers out.
func (l *keyLog) hold() (f logFile, release func(), err error) {
	give, err := l.writing.take(context.Background(), struct{}{})
	if err != nil {
		return nil, nil, err
	}
	held, err := openHeld(context.Background(), l.path)
	if err != nil {
		give()
		return nil, nil, err
	}
	return openLog{held}, func() {
		held.Close() // it was synced
		give()
	}, nil
}

// ready reports whether a log that is there can be written to.
func (l *keyLog) ready() error {
	f, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// On Windows whoever adds an entry keeps all others out.
	if f, held := lock.Open(l.path, 0); held == nil {
		return f.Close()
	} else if errors.Is(held, lock.ErrHeld) {
		return nil
	}
	return err
}

// openHeld opens a file that nobody else has open by it, and makes it if need be, for its
// owner alone. It waits for others until ctx is done.
func openHeld(ctx context.Context, path string) (*os.File, error) {
	for range 100 {
		f, err := lock.Wait(ctx, path, 0)
		if errors.Is(err, fs.ErrNotExist) {
			made, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				return nil, err
			}
			made.Close()
			continue
		}
		if err != nil {
			return nil, err
		}
		// Another file may have taken its name while this one waited.
		opened, err := f.Stat()
		if err == nil {
			var named fs.FileInfo
			if named, err = os.Lstat(path); err == nil && os.SameFile(opened, named) {
				return f, nil
			}
		}
		f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, errors.New("its files are replaced while they are in use")
}

// mend is called by who holds the log. It takes up what is new and cuts off what a crash
// has left of the last entry, which nobody was told is kept.
func (l *keyLog) mend(f logFile) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	end, err := l.state()
	if err != nil {
		return err
	}
	whole, err := l.take(f, end)
	if whole || err != nil {
		return err
	}
	size, err := f.Size()
	if err != nil {
		return err
	}
	if end, err = l.state(); err != nil {
		return err
	}
	if cut, err := torn(f, l.number, end, size); err != nil || !cut {
		return errors.Join(err, errDamaged)
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	return f.Sync()
}

// keep adds a message under a key and returns it, or the one that is there already, be it
// in an older file.
func (l *keyLog) keep(key Key, message []byte, older func(Key) ([]byte, error)) ([]byte, error) {
	if len(message) == 0 || len(message) > maxKept {
		return nil, fmt.Errorf("a message of %d bytes, want 1 to %d", len(message), maxKept)
	}
	f, release, err := l.hold()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := l.mend(f); err != nil {
		return nil, err
	}
	if at := l.find(key); at != 0 {
		return readEntry(f, at, key)
	}
	if there, err := older(key); there != nil || err != nil {
		return there, err
	}
	end, err := l.state()
	if err != nil {
		return nil, err
	}
	at, after, err := l.append(f, end, key, message)
	if err != nil {
		return nil, err
	}
	l.add(map[shortKey]int64{shortKey(key[:]): at}, after)
	return message, nil
}

// append writes an entry behind the end of the log, with a header ahead of the first one,
// and returns when it is on the disk. What could not be written is taken off again; where
// it is not known what the disk holds, nothing more is written.
func (l *keyLog) append(f logFile, end int64, key Key, message []byte) (at, after int64, err error) {
	var b []byte
	at = end
	if end == 0 {
		b, at = newLogHeader(l.number), logHeader
	}
	b = appendEntry(b, at, key, message)
	if n, err := f.WriteAt(b, end); err != nil {
		if end == 0 && n >= logHeader {
			end = logHeader // others may have read the header, and go on from there
		}
		if f.Truncate(end) != nil || f.Sync() != nil {
			l.fail(err)
		}
		return 0, 0, err
	}
	err = f.Sync()
	if err == nil && end == 0 { // the log is new, or was never finished
		err = disk.SyncFolder(filepath.Dir(l.path))
	}
	if err != nil {
		l.fail(err)
	}
	return at, end + int64(len(b)), err
}

// logFile is what a log needs of a file.
type logFile interface {
	io.ReaderAt
	io.WriterAt
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
}

// openLog is a logFile of the system.
type openLog struct{ *os.File }

// Size returns how long the file is.
func (f openLog) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// fail lets nothing more be written.
func (l *keyLog) fail(err error) {
	l.index.Lock()
	defer l.index.Unlock()
	l.failed = err
}
