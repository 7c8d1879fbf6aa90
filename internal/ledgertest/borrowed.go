// Package ledgertest has a budget for tests in which several processes spend.
package ledgertest

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// Borrowed is a ledger that several processes share: each opens it for a call.
type Borrowed struct{ Path string }

func (b Borrowed) with(use func(*mechanism.Ledger) error) error {
	for {
		l, err := mechanism.OpenLedger(b.Path)
		if errors.Is(err, mechanism.ErrLocked) {
			time.Sleep(200 * time.Microsecond)
			continue
		}
		if err != nil {
			return err
		}
		return errors.Join(use(l), l.Close())
	}
}

// Reserve spends from the ledger.
func (b Borrowed) Reserve(unit mechanism.Unit, id [16]byte, spend mechanism.Spend) (r mechanism.Receipt, err error) {
	err = b.with(func(l *mechanism.Ledger) (err error) {
		r, err = l.Reserve(unit, id, spend)
		return err
	})
	return r, err
}

// Commit records in the ledger which release a spend was for.
func (b Borrowed) Commit(r mechanism.Receipt, sum [sha256.Size]byte) error {
	return b.with(func(l *mechanism.Ledger) error { return l.Commit(r, sum) })
}

// Paid reports whether the ledger has a spend for a release.
func (b Borrowed) Paid(id [16]byte) (paid bool, err error) {
	err = b.with(func(l *mechanism.Ledger) (err error) {
		paid, err = l.Paid(id)
		return err
	})
	return paid, err
}

// LedgerID returns the number of the ledger. It never changes, so the file is read
// without opening the ledger.
func (b Borrowed) LedgerID(mechanism.Unit) ([16]byte, error) {
	s, err := mechanism.ReadLedger(b.Path)
	if err != nil {
		return [16]byte{}, err
	}
	return s.LedgerID, nil
}
