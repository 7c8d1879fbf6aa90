package mechanism

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// CreateLedger makes an empty ledger that only its owner can read. It never
// replaces a file: the error then matches fs.ErrExist.
//
// The ledger is complete on the disk before it has its name: a crash leaves a whole ledger at path
// or none. It can also leave a temporary file in the same folder, whose name begins with
// ".privatemail-new-"; nothing reads this file, and the next call removes it. If only the sync of
// the folder fails, the ledger is there and can be opened, and the error says so. On file systems
// without hard links a crash can leave a part of a ledger, which is refused.
func CreateLedger(path string, total Total) error {
	header, err := newLedgerHeader(total)
	if err != nil {
		return err
	}
	if err := disk.Create(path, header.encode()[:]); err != nil {
		return ledgerFailure(err)
	}
	return nil
}

// OpenLedger opens a ledger and verifies all of it. If a crash left the last record
// incomplete, the record is completed and counts if its contents are there;
// otherwise it is removed, because its spend was not granted. Any other damage, and
// a missing file, is ErrLedger. If the ledger is already open, here or in another
// process, the error is ErrLocked.
//
// Symbolic links are not followed. On a network file system the lock is only as
// good as that system's.
func OpenLedger(path string) (*Ledger, error) {
	return openLedger(path, nil)
}

// OpenLedgerAt is OpenLedger for a ledger that must have gone through a state that Head
// reported earlier. An older copy, a ledger that was edited before that state, and
// another ledger are ErrLedger. Records after the state are not checked, so keep the
// newest Head.
func OpenLedgerAt(path string, sequence uint64, hash [sha256.Size]byte) (*Ledger, error) {
	return openLedger(path, &pin{sequence: sequence, hash: hash})
}

// A pin is a state that a ledger must have gone through; nil stands for any.
type pin struct {
	sequence uint64
	hash     [sha256.Size]byte
	passed   bool
}

// visit checks each state of a ledger while it is read.
func (p *pin) visit(s *ledgerState, _ *block) error {
	if p != nil && s.sequence == p.sequence {
		p.passed = true
		if s.sum != p.hash {
			return ledgerError(fmt.Sprintf("not the expected ledger: record %d differs", p.sequence))
		}
	}
	return nil
}

// passedBy is called at the end, with the last state.
func (p *pin) passedBy(s *ledgerState) error {
	if p != nil && !p.passed {
		return ledgerError(fmt.Sprintf("an old copy: it has %d records, and the ledger had %d", s.sequence, p.sequence))
	}
	return nil
}

func openLedger(path string, at *pin) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, ledgerFailure(err)
	}
	if _, err := regularFile(path); err != nil {
		return nil, err
	}
	opened, err := openLocked(path)
	if err != nil {
		return nil, err
	}
	f := &namedFile{File: opened, path: path}
	info, err := f.inPlace()
	if err == nil {
		// The program that put the file here may not have done this.
		err = disk.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, ledgerFailure(err)
	}
	l, err := loadLedger(f, info.Size(), at)
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// A namedFile is a file that must stay where it was opened: spends written
// after another file has taken its name would be lost.
type namedFile struct {
	*os.File
	path string
}

// inPlace returns the state of the file if it still has its name.
func (f *namedFile) inPlace() (fs.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	there, err := os.Lstat(f.path)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, there) {
		return nil, errors.New("another file has taken its name")
	}
	return info, nil
}

func (f *namedFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	_, err := f.inPlace()
	return err
}

// regularFile returns the file at path if it can be a ledger.
func regularFile(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, ledgerFailure(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, ledgerError("a symbolic link: name the file itself")
	case !info.Mode().IsRegular():
		return nil, ledgerError("not a regular file")
	}
	return info, nil
}

// loadLedger reads a ledger and mends its end. It refuses a ledger that has not gone
// through the state of the pin.
func loadLedger(f ledgerFile, size int64, at *pin) (*Ledger, error) {
	s, tail, err := readLedger(f, size, at.visit)
	if err == nil {
		err = at.passedBy(s)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case tail != nil:
		err = writeBlock(f, tail, s.end()-blockSize)
	case size != s.end():
		if err = f.Truncate(s.end()); err == nil {
			err = f.Sync()
		}
	}
	if err != nil {
		return nil, ledgerFailure(err)
	}
	return &Ledger{file: f, state: s}, nil
}
