package mechanism

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// A Ledger keeps what each unit has spent, in a file. A spend is on the disk
// before anything is released for it, and nothing is ever given back, so a
// crash can lose budget but never gain any. One process at a time holds a
// ledger; its methods are safe for concurrent use. It takes about 50 bytes of
// memory for each release and each unit. The zero value is a closed ledger that
// holds nothing: whatever is asked of it is ErrLedger.
//
// The file holds keyed hashes in place of the names of units. The key is in it
// too: who has the file can test whether a guessed name is in it. Keep it as
// private as the names.
//
// The records are chained by hashes, which find accidents. They have no key: whoever
// can write the file can edit it and compute them anew, or put back an older copy, as a
// backup may do by accident; the budget spent since is then forgotten. Keep Head
// elsewhere and open with OpenLedgerAt to notice. Two devices with ledgers of their own for
// one unit spend the sum of both.
type Ledger struct {
	mutex  sync.Mutex
	file   ledgerFile // nil when closed
	state  *ledgerState
	failed error // of a write: what the disk holds is not known
}

// ledgerFile is the part of an *os.File that a ledger uses.
type ledgerFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// CreateLedger makes an empty ledger that no one but its owner can read. It
// never replaces a file: that error matches fs.ErrExist.
func CreateLedger(path string, total Total) error {
	header, err := newLedgerHeader(total)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return ledgerFailure(err)
	}
	_, err = f.Write(header.encode()[:])
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = disk.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(path)
		return ledgerFailure(err)
	}
	return nil
}

// OpenLedger opens a ledger and verifies all of it. A last record that was cut
// short by a crash is completed, and counts, if its contents are there, and is
// taken off if they are not, because its spend has not been granted then. Any
// other damage, and a file that is missing, is ErrLedger. If the ledger is open
// already, here or in another process, the error is ErrLocked.
//
// Symbolic links are not followed. On a network file system the lock is only as
// good as that system's.
func OpenLedger(path string) (*Ledger, error) {
	return openLedger(path, nil)
}

// OpenLedgerAt is OpenLedger for a ledger that must have gone through a state
// that Head reported earlier. A copy from before that state, one that was edited before
// it, and another ledger are ErrLedger. What came after the state is not checked, so the
// newest Head is the one to keep.
func OpenLedgerAt(path string, sequence uint64, hash [sha256.Size]byte) (*Ledger, error) {
	return openLedger(path, &pin{sequence: sequence, hash: hash})
}

// A pin is a state that a ledger must have gone through; nil stands for any.
type pin struct {
	sequence uint64
	hash     [sha256.Size]byte
	passed   bool
}

// visit looks at each state of a ledger that is read.
func (p *pin) visit(s *ledgerState, _ *block) error {
	if p != nil && s.sequence == p.sequence {
		p.passed = true
		if s.sum != p.hash {
			return ledgerError(fmt.Sprintf("not the ledger expected: record %d is another one", p.sequence))
		}
	}
	return nil
}

// passedBy is called at the end, with the last state.
func (p *pin) passedBy(s *ledgerState) error {
	if p != nil && !p.passed {
		return ledgerError(fmt.Sprintf("an old copy: it has %d records, and had %d", s.sequence, p.sequence))
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
		// Whoever put the file here may not have.
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

// A namedFile is a file that must stay where it was opened: what is written to
// a ledger after another file has taken its name would be lost.
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

// regularFile returns what is at path if it can be a ledger.
func regularFile(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, ledgerFailure(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, ledgerError("a symbolic link; name the file itself")
	case !info.Mode().IsRegular():
		return nil, ledgerError("not a regular file")
	}
	return info, nil
}

// loadLedger reads a ledger and mends its end, unless it has not gone through a state.
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

// Close gives up the lock. Later spends are refused; what was spent can still
// be asked.
func (l *Ledger) Close() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if err != nil {
		return ledgerFailure(err)
	}
	return nil
}

// Reserve takes a spend from the budget of a unit, and returns when that is on
// the disk. The spend is final, whether or not a release follows.
//
// The error is a *BudgetError if the spend does not fit, ErrUnknownUnit for a unit
// that has not spent before and is not said to be New, and ErrLedger for a
// release id that has been used and for a spend that the kind of ledger cannot
// count; the ledger is then as before. If writing fails the error is ErrLedger,
// the spend counts because it may be on the disk, and the ledger refuses
// everything until it is opened anew.
func (l *Ledger) Reserve(unit Unit, releaseID [16]byte, spend Spend) (Receipt, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	hash, kind, cost, err := l.price(unit, spend)
	if err != nil {
		return Receipt{}, err
	}
	if _, used := l.state.releases[releaseID]; used {
		return Receipt{}, ledgerError("this release has been paid for")
	}
	b := l.header().total.Kind.reserveBlock(l.state.sequence+1, hash, kind, releaseID, cost, spend)
	if err := l.append(b); err != nil {
		return Receipt{}, err
	}
	return Receipt{sequence: l.state.sequence, id: releaseID}, nil
}

// Covers returns the error Reserve would return for the spend now, and spends
// nothing. Long work can be refused before it begins; only Reserve decides.
func (l *Ledger) Covers(unit Unit, spend Spend) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_, _, _, err := l.price(unit, spend)
	return err
}

// price returns what stands for the unit and what a spend costs it, or why it
// cannot pay.
func (l *Ledger) price(unit Unit, spend Spend) (hash unitHash, kind byte, cost Pots, err error) {
	header := l.header()
	if hash, kind, err = header.hash(unit); err != nil {
		return
	}
	if cost, err = header.total.Kind.Price(spend); err != nil {
		return
	}
	if err = l.usable(); err != nil {
		return
	}
	spent, known := l.state.spent[hash]
	if !known && !unit.New {
		err = errUnknown(unit.Kind)
		return
	}
	if left := header.whole.minus(spent); !cost.within(left) {
		err = &BudgetError{UnitKind: unit.Kind, Asked: cost, Remaining: left, Total: header.total}
	}
	return
}

// Commit notes the SHA-256 of the release that a spend was for, once. A spend
// without it counts all the same.
func (l *Ledger) Commit(receipt Receipt, sum [sha256.Size]byte) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	switch of, known := l.state.releases[receipt.id]; {
	case known && of == 0:
		return ledgerError("this release has been committed")
	case !known || of != receipt.sequence:
		return ledgerError("the receipt is not of this ledger")
	}
	return l.append(commitBlock(l.state.sequence+1, receipt, sum))
}

func (l *Ledger) usable() error {
	switch {
	case l.file == nil:
		return ledgerFailure(fs.ErrClosed)
	case l.failed != nil:
		return fmt.Errorf("mechanism: %w: an earlier write failed, open it anew: %w", ErrLedger, l.failed)
	}
	return nil
}

// append writes a record that has been checked. If that fails it counts, but is
// not part of Head.
func (l *Ledger) append(b *block) error {
	s := l.state
	at, sequence, sum := s.end(), s.sequence, s.sum
	b.setSum(b.chain(sum))
	if err := s.add(b); err != nil {
		return err
	}
	if err := writeBlock(l.file, b, at); err != nil {
		s.sequence, s.sum = sequence, sum
		l.failed = err
		return ledgerFailure(err)
	}
	return nil
}

func writeBlock(f ledgerFile, b *block, at int64) error {
	n, err := f.WriteAt(b[:], at)
	if err == nil && n < blockSize {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// Total returns what the ledger holds for each unit.
func (l *Ledger) Total() Total {
	if h := l.header(); h != nil {
		return h.total
	}
	return Total{}
}

// header is nil for a ledger that was not opened.
func (l *Ledger) header() *ledgerHeader {
	if l.state == nil {
		return nil
	}
	return l.state.header
}

// Spent returns what a unit has spent.
func (l *Ledger) Spent(unit Unit) (Pots, error) {
	hash, _, err := l.header().hash(unit)
	if err != nil {
		return Pots{}, err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.state.spent[hash], nil
}

// Remaining returns what a unit can still spend.
func (l *Ledger) Remaining(unit Unit) (Pots, error) {
	spent, err := l.Spent(unit)
	if err != nil {
		return Pots{}, err
	}
	return l.state.header.whole.minus(spent), nil
}

// EpsilonAt returns the epsilon of what a unit has spent so far at a delta of
// the caller's choice (0 in a Pure ledger), rounded up. What is proved is the
// statement about the whole total. For spends that were fixed beforehand this
// one holds too; if their sizes were chosen by looking at earlier releases it
// is an estimate.
func (l *Ledger) EpsilonAt(unit Unit, delta float64) (float64, error) {
	spent, err := l.Spent(unit)
	if err != nil {
		return 0, err
	}
	total := l.Total()
	if err := total.Kind.checkDelta(delta); err != nil {
		return 0, err
	}
	return total.epsilonWithin(spent, delta), nil
}

// Head returns the number of records and the hash of the last one (of the
// header if there is none), which stands for all before it.
func (l *Ledger) Head() (sequence uint64, hash [sha256.Size]byte) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.state == nil {
		return 0, hash
	}
	return l.state.sequence, l.state.sum
}

func (l *Ledger) reserve(unit Unit, id [16]byte, spend Spend) (Receipt, error) {
	return l.Reserve(unit, id, spend)
}

func (l *Ledger) commit(receipt Receipt, sum [sha256.Size]byte) error {
	return l.Commit(receipt, sum)
}

func (l *Ledger) payer(unit Unit) [sha256.Size]byte { return payerID(l.header().id, unit) }

func (l *Ledger) paid(releaseID [16]byte) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_, known := l.state.releases[releaseID]
	return known
}

// A BudgetError says what was asked and what is left. It matches
// ErrBudgetExceeded.
type BudgetError struct {
	UnitKind         string // not the unit itself
	Asked, Remaining Pots
	Total            Total
}

func (e *BudgetError) Error() string {
	t := e.Total
	return fmt.Sprintf("mechanism: privacy budget of the %s exceeded: asked %s, remaining %s of %s",
		e.UnitKind, t.describe(e.Asked), t.describe(e.Remaining), t)
}

func (e *BudgetError) Unwrap() error { return ErrBudgetExceeded }
