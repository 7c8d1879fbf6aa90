package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
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
