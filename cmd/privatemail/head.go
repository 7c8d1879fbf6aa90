package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// A head is a state of a ledger: the number of its last record and the hash of that. The
// zero value stands for any state.
type head struct {
	given    bool
	sequence uint64
	hash     [sha256.Size]byte
}

func headVar(fs *flag.FlagSet, at *head) {
	fs.Func("at", "the ledger must have gone through the state `HEAD`, NUMBER:HASH as 'budget show' printed it earlier; that finds copies from before HEAD and edits before it, and not what is missing after it", at.parse)
}

func headOf(s *mechanism.Snapshot) string { return formatHead(s.Sequence, s.Hash) }

func formatHead(sequence uint64, hash [sha256.Size]byte) string {
	return fmt.Sprintf("%d:%x", sequence, hash)
}

func (h *head) parse(text string) error {
	number, digits, _ := strings.Cut(text, ":")
	sequence, err := strconv.ParseUint(number, 10, 64)
	hash, wrong := hex.DecodeString(digits)
	if err != nil || wrong != nil || len(hash) != sha256.Size {
		return errors.New("want NUMBER:HASH, a number and 64 hexadecimal digits, as 'privatemail budget show' prints them")
	}
	*h = head{true, sequence, [sha256.Size]byte(hash)}
	return nil
}

// readLedger reads a ledger that has gone through a state.
func readLedger(path string, at head) (*mechanism.Snapshot, error) {
	read := mechanism.ReadLedger
	if at.given {
		read = func(path string) (*mechanism.Snapshot, error) {
			return mechanism.ReadLedgerAt(path, at.sequence, at.hash)
		}
	}
	s, err := read(path)
	return s, ledgerTrouble(path, err)
}

// openLedger opens a ledger that has gone through a state, to spend from it.
func openLedger(path string, at head) (*mechanism.Ledger, error) {
	open := mechanism.OpenLedger
	if at.given {
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
	return fmt.Errorf("%s: %w", path, bare(err))
}
