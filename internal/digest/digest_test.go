package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"
)

// A Digest is SHA-256 of the bytes of its numbers, for any count of them.
func TestDigest(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 1023, 1024, 1025, 5000} {
		var want bytes.Buffer
		d := New()
		for i := range n {
			d.Put32(uint32(3 * i))
			binary.Write(&want, binary.LittleEndian, uint32(3*i))
			if i%3 == 0 {
				d.Put(uint64(i) << 40)
				d.PutFloat(float64(i) / 7)
				binary.Write(&want, binary.LittleEndian, uint64(i)<<40)
				binary.Write(&want, binary.LittleEndian, float64(i)/7)
			}
			if i == 1000 {
				d.Sum() // changes nothing
			}
		}
		if d.Sum() != sha256.Sum256(want.Bytes()) {
			t.Errorf("%d numbers: another sum", n)
		}
	}
}
