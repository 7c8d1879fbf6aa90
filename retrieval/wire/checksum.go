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

// newSHA256 starts the checksum of all messages but answers of mode cells and galleries. That of a
// codebook is its hash, by which clients know it.
func newSHA256() checksum { return sha256.New() }

// newCRCPair starts the checksum of answers of mode cells and of galleries, which are long.
func newCRCPair() checksum { return new(crc.Pair) }

const crcPairSize = crc.Size
