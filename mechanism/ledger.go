package mechanism

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// A Ledger records in a file what each unit has spent. A spend is on the disk before
// anything is released for it, and nothing is ever given back, so a crash can lose
// budget but never gain any. One process at a time holds a
// ledger; its methods are safe for concurrent use. It takes about 50 bytes of memory
// for each release and 220 for each unit. The zero value is a closed ledger that holds
// nothing: every call returns ErrLedger.
//
// The file holds keyed hashes in place of the names of units. It also holds the
// key: anyone who has the file can test whether a guessed name is in it. Keep
// it as private as the names.
//
// The records are chained by hashes, which detect accidents. The hashes have no key: anyone
// who can write the file can edit it and compute them again, or put back an older copy, as
// a backup may do by accident; the budget spent since is then forgotten. To notice this,
// keep Head elsewhere and open with OpenLedgerAt. Two devices with separate ledgers for one
// unit spend the sum of both.
type Ledger struct {
	mutex  sync.Mutex
	file   ledgerFile // nil when closed
	state  *ledgerState
	failed error // of a write, after which the contents of the disk are unknown; nil before
}

// ledgerFile is the part of an *os.File that a ledger uses.
type ledgerFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// Close releases the lock. Later spends are refused; the methods that report
// spending still work.
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

// Reserve takes a spend from the budget of a unit, and returns when the spend is on the
// disk. The spend is final, whether or not a release follows. Calibration.Privatize, Subset.Select and
// Subset.Pay call it; mechanisms of other packages pay with it before they draw any noise.
//
// The error is a *BudgetError if the spend does not fit; ErrUnknownUnit for a unit that has not
// spent before and is not New; a *RelationError for a spend that protects other pairs of data sets
// than the earlier spends of the unit do together, unless the unit says OtherRelation; ErrParam for
// a spend that does not say what it protects; and ErrLedger for a release id that has been used and
// for a spend that the kind of ledger cannot count. The ledger is then unchanged. If writing fails
// the error is ErrLedger, the spend counts because it may be on the disk, and the ledger refuses
// everything until it is opened again.
func (l *Ledger) Reserve(unit Unit, releaseID [16]byte, spend Spend) (Receipt, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	hash, kind, cost, err := l.price(unit, spend)
	if err != nil {
		return Receipt{}, err
	}
	if _, used := l.state.releases[releaseID]; used {
		return Receipt{}, ledgerError("this release has already been paid for")
	}
	b := l.header().total.Kind.reserveBlock(l.state.sequence+1, hash, kind, releaseID, cost, spend)
	if err := l.append(b); err != nil {
		return Receipt{}, err
	}
	return Receipt{sequence: l.state.sequence, id: releaseID}, nil
}

// Covers returns the error that Reserve would return for the spend now, and
// spends nothing. It allows refusing long work before it begins; only Reserve
// decides.
func (l *Ledger) Covers(unit Unit, spend Spend) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_, _, _, err := l.price(unit, spend)
	return err
}

// price returns the hash of the unit and the cost of a spend, or the reason why
// the unit cannot pay.
func (l *Ledger) price(unit Unit, spend Spend) (hash unitHash, kind byte, cost Pots, err error) {
	header := l.header()
	if hash, kind, err = header.hash(unit); err != nil {
		return
	}
	if cost, err = header.total.Kind.Price(spend); err != nil {
		return
	}
	if err = spend.check(); err != nil {
		return
	}
	if err = l.usable(); err != nil {
		return
	}
	before, known := l.state.units[hash]
	if !known && !unit.New {
		err = errUnknown(unit.Kind)
		return
	}
	if err = before.agrees(unit, spend); err != nil {
		return
	}
	if left := header.whole.minus(before.Pots); !cost.within(left) {
		err = &BudgetError{UnitKind: unit.Kind, Asked: cost, Remaining: left, Total: header.total}
	}
	return
}

// Commit notes the SHA-256 of the release that a spend was for, once. A spend
// without the note also counts.
func (l *Ledger) Commit(receipt Receipt, sum [sha256.Size]byte) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	switch of, known := l.state.releases[receipt.id]; {
	case known && of == 0:
		return ledgerError("this release has already been committed")
	case !known || of != receipt.sequence:
		return ledgerError("the receipt belongs to another ledger")
	}
	return l.append(commitBlock(l.state.sequence+1, receipt, sum))
}

func (l *Ledger) usable() error {
	switch {
	case l.file == nil:
		return ledgerFailure(fs.ErrClosed)
	case l.failed != nil:
		return l.failure()
	}
	return nil
}

// failure is the error after a write that failed.
func (l *Ledger) failure() error {
	return fmt.Errorf("mechanism: %w: an earlier write failed: open the ledger again: %w", ErrLedger, l.failed)
}

// append writes a record that has been checked. If writing fails the record
// counts, but is not part of Head.
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

// Total returns the budget of each unit.
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

// Balance returns what a unit has spent and can still spend, and for which pairs of data sets
// its total holds. The error is ErrUnknownUnit for a unit that has spent nothing, and
// ErrParam for an invalid unit.
func (l *Ledger) Balance(unit Unit) (Balance, error) {
	hash, _, err := l.header().hash(unit)
	if err != nil {
		return Balance{}, err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	of, known := l.state.units[hash]
	if !known {
		return Balance{}, errUnknown(unit.Kind)
	}
	return l.header().balance(hash, unit.Kind, of, l.header().total.epsilonOf), nil
}

// Spent returns what a unit has spent, zero for a unit that the ledger does not know.
func (l *Ledger) Spent(unit Unit) (Pots, error) {
	hash, _, err := l.header().hash(unit)
	if err != nil {
		return Pots{}, err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.state.units[hash].Pots, nil
}

// Remaining returns what a unit can still spend.
func (l *Ledger) Remaining(unit Unit) (Pots, error) {
	spent, err := l.Spent(unit)
	if err != nil {
		return Pots{}, err
	}
	return l.state.header.whole.minus(spent), nil
}

// EpsilonAt returns the epsilon of what a unit has spent so far at a delta of the
// caller's choice (0 in a Pure ledger), rounded up. The statement about the whole
// total is proved. This number is proved only for spends that were fixed beforehand;
// if their sizes were chosen by looking at earlier releases it is an estimate. Both
// are about the pairs of data sets that all spends of the unit protect; Balance
// returns these.
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
// header if there is none), which covers all before it.
func (l *Ledger) Head() (sequence uint64, hash [sha256.Size]byte) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.state == nil {
		return 0, hash
	}
	return l.state.sequence, l.state.sum
}

// LedgerID returns the number that was drawn when the ledger was created, for every unit.
// Copies of a ledger share it.
func (l *Ledger) LedgerID(Unit) ([16]byte, error) {
	if l == nil || l.state == nil {
		return [16]byte{}, ledgerError("the ledger was not opened")
	}
	return l.state.header.id, nil
}

// Paid reports whether the ledger has a spend for a release. After a failed write the
// contents of the disk are unknown: the error is ErrLedger until the ledger is opened
// again.
func (l *Ledger) Paid(releaseID [16]byte) (bool, error) {
	if l == nil || l.state == nil {
		return false, ledgerError("the ledger was not opened")
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.failed != nil {
		return false, l.failure()
	}
	_, known := l.state.releases[releaseID]
	return known, nil
}
