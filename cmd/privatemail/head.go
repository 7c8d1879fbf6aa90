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

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// The head of a ledger is the number of its last record and its hash, as NUMBER:HASH.

func headVar(fs *flag.FlagSet, at *string) {
	fs.StringVar(at, "at", "", "the ledger must have gone through the state `HEAD`, NUMBER:HASH as 'budget show' printed it earlier; an old copy and an edited file have not")
}

func headOf(s *mechanism.Snapshot) string { return formatHead(s.Sequence, s.Hash) }

func formatHead(sequence uint64, hash [sha256.Size]byte) string {
	return fmt.Sprintf("%d:%x", sequence, hash)
}

func parseHead(text string) (sequence uint64, hash [sha256.Size]byte, err error) {
	number, digits, _ := strings.Cut(text, ":")
	sequence, err = strconv.ParseUint(number, 10, 64)
	if err == nil {
		var n int
		if n, err = hex.Decode(hash[:], []byte(digits[:min(len(digits), 2*len(hash))])); err == nil && (n != len(hash) || len(digits) != 2*n) {
			err = errors.New("wrong length")
		}
	}
	if err != nil {
		return 0, hash, cli.Usagef("-at %q: want NUMBER:HASH, a number and 64 hexadecimal digits, as 'privatemail budget show' prints them", text)
	}
	return sequence, hash, nil
}

// readLedger reads a ledger that has gone through the state at, or in any state.
func readLedger(path, at string) (*mechanism.Snapshot, error) {
	if at == "" {
		return ledgerOr(path, mechanism.ReadLedger)
	}
	sequence, hash, err := parseHead(at)
	if err != nil {
		return nil, err
	}
	return ledgerOr(path, func(path string) (*mechanism.Snapshot, error) { return mechanism.ReadLedgerAt(path, sequence, hash) })
}

// openLedger opens a ledger that has gone through the state at, or in any state, to
// spend from it.
func openLedger(path, at string) (*mechanism.Ledger, error) {
	if at == "" {
		return ledgerOr(path, mechanism.OpenLedger)
	}
	sequence, hash, err := parseHead(at)
	if err != nil {
		return nil, err
	}
	return ledgerOr(path, func(path string) (*mechanism.Ledger, error) { return mechanism.OpenLedgerAt(path, sequence, hash) })
}

// ledgerOr adds to an error what a user can do about it.
func ledgerOr[T any](path string, get func(string) (T, error)) (T, error) {
	out, err := get(path)
	if err != nil {
		err = ledgerTrouble(path, err)
	}
	return out, err
}

// ledgerTrouble adds what a user can do about an error of a ledger.
func ledgerTrouble(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such ledger; create one with 'privatemail budget create %s -epsilon E -delta D'", path, path)
	case errors.Is(err, mechanism.ErrLocked):
		return fmt.Errorf("%s: another process is spending from this ledger; wait for it to end", path)
	}
	return fmt.Errorf("%s: %w", path, bare(err))
}
