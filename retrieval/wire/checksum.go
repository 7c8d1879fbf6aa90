package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
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

// A crcPair is CRC-32 followed by CRC-32C. Their polynomials have no common factor, so
// the two together find what one CRC of 64 bits finds: every error within 8 successive
// bytes, and of other accidents all but about one in 2^64. Processors compute both many
// times faster than SHA-256, and answers are long.
type crcPair struct{ ieee, castagnoli uint32 }

func newCRCPair() checksum { return new(crcPair) }

const crcPairSize = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (c *crcPair) Write(p []byte) (int, error) {
	c.ieee = crc32.Update(c.ieee, crc32.IEEETable, p)
	c.castagnoli = crc32.Update(c.castagnoli, castagnoli, p)
	return len(p), nil
}

func (c *crcPair) Sum(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, c.ieee)
	return binary.LittleEndian.AppendUint32(b, c.castagnoli)
}

func (c *crcPair) Size() int { return crcPairSize }
