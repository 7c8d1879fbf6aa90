package accounts

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// ReadLedger reads a ledger that has gone through a state.
func ReadLedger(path string, at Head) (*mechanism.Snapshot, error) {
	read := mechanism.ReadLedger
	if at.Given {
		read = func(path string) (*mechanism.Snapshot, error) {
			return mechanism.ReadLedgerAt(path, at.sequence, at.hash)
		}
	}
	s, err := read(path)
	return s, ledgerTrouble(path, err)
}

// OpenLedger opens a ledger that has gone through a state, to spend from it.
func OpenLedger(path string, at Head) (*mechanism.Ledger, error) {
	open := mechanism.OpenLedger
	if at.Given {
		open = func(path string) (*mechanism.Ledger, error) {
			return mechanism.OpenLedgerAt(path, at.sequence, at.hash)
		}
	}
	l, err := open(path)
	return l, ledgerTrouble(path, err)
}

// ledgerTrouble adds what a user can do about an error of a ledger; nil stays nil.
func ledgerTrouble(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such ledger; create one with 'privatemail budget create %s -epsilon E -delta D'", path, path)
	case errors.Is(err, mechanism.ErrLocked):
		return fmt.Errorf("%s: another process is spending from this ledger; wait for it to end", path)
	}
	return fmt.Errorf("%s: %w", path, text.Bare(err))
}

// NoLedger is what -ledger says to count nothing.
const NoLedger = "none"
