package wire

import (
	"crypto/sha256"
	"io"

	"github.com/seed-64e14a55/privatemail/internal/crc"
)

// A checksum is computed over the bytes that are written to it, which never fails.
type checksum interface {
	io.Writer
	Sum(b []byte) []byte // appends the checksum of what was written
	Size() int           // its length
}

// newSHA256 starts the checksum of messages that are short, or known by it: the hash of a codebook,
// a manifest and records is their checksum.
func newSHA256() checksum { return sha256.New() }

// newCRCPair starts the checksum of messages that are long: answers of mode cells, galleries, and all
// messages of mode sealed but a manifest and records.
func newCRCPair() checksum { return new(crc.Pair) }

const crcPairSize = crc.Size
