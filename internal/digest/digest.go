// Package digest hashes numbers: SHA-256 of their bytes, the low byte first on every
// machine.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
)

// Size is the length of a sum.
const Size = sha256.Size

// gathered is how many bytes are hashed at a time.
const gathered = 1 << 13

// A Digest hashes the numbers that are put into it. New makes one.
type Digest struct {
	hash  hash.Hash
	bytes []byte
}

// New returns a Digest of nothing.
func New() *Digest { return &Digest{sha256.New(), make([]byte, 0, gathered)} }

// Put adds a number of 8 bytes.
func (d *Digest) Put(v uint64) {
	if d.bytes = binary.LittleEndian.AppendUint64(d.bytes, v); len(d.bytes) > gathered-8 {
		d.flush()
	}
}

// Put32 adds a number of 4 bytes.
func (d *Digest) Put32(v uint32) {
	if d.bytes = binary.LittleEndian.AppendUint32(d.bytes, v); len(d.bytes) > gathered-8 {
		d.flush()
	}
}

// PutFloat adds the bits of v.
func (d *Digest) PutFloat(v float64) { d.Put(math.Float64bits(v)) }

// flush hashes the gathered bytes.
func (d *Digest) flush() {
	d.hash.Write(d.bytes) // never fails
	d.bytes = d.bytes[:0]
}

// Sum returns the hash of the numbers put so far.
func (d *Digest) Sum() (sum [Size]byte) {
	d.flush()
	d.hash.Sum(sum[:0])
	return sum
}
