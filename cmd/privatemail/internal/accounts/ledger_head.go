package accounts

import (
	"crypto/sha256"
	"errors"
	"flag"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// A Head is a state of a ledger: the number of its last record and the hash of that. The
// zero value stands for any state.
type Head struct {
	Given    bool
	sequence uint64
	hash     [sha256.Size]byte
}

func HeadVar(fs *flag.FlagSet, at *Head) {
	fs.Func("at", "the ledger must have gone through the state `HEAD`\nNUMBER:HASH as 'budget show' printed it earlier; that finds copies from before HEAD and edits before it, and not what is missing after it", at.parse)
}

func HeadOf(s *mechanism.Snapshot) string { return mechanism.FormatHead(s.Sequence, s.Hash) }

func (h *Head) parse(text string) error {
	sequence, hash, err := mechanism.ParseHead(text)
	if err != nil {
		return errors.New("want NUMBER:HASH, a number and 64 hexadecimal digits, as 'privatemail budget show' prints them")
	}
	*h = Head{true, sequence, hash}
	return nil
}
