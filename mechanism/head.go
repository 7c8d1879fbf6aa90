package mechanism

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// FormatHead returns the state that Ledger.Head reports as a text: NUMBER:HASH, the hash in
// hexadecimal digits. Keep it elsewhere for OpenLedgerAt.
func FormatHead(sequence uint64, hash [sha256.Size]byte) string {
	return fmt.Sprintf("%d:%x", sequence, hash)
}

// ParseHead reads the text of FormatHead. The error is ErrParam.
func ParseHead(text string) (sequence uint64, hash [sha256.Size]byte, err error) {
	number, digits, _ := strings.Cut(text, ":")
	sequence, err = strconv.ParseUint(number, 10, 64)
	sum, wrong := hex.DecodeString(digits)
	if err != nil || wrong != nil || len(sum) != sha256.Size {
		return 0, hash, fmt.Errorf("mechanism: head: %w: want NUMBER:HASH, a number and 64 hexadecimal digits", ErrParam)
	}
	return sequence, [sha256.Size]byte(sum), nil
}
