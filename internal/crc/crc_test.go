package crc

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// The two polynomials have no common factor, by Euclid's algorithm over bits.
func TestPolynomials(t *testing.T) {
	whole := func(reversed uint32) uint64 { return 1<<32 | uint64(bits.Reverse32(reversed)) }
	a, b := whole(crc32.IEEE), whole(crc32.Castagnoli)
	for b != 0 {
		for a != 0 && bits.Len64(a) >= bits.Len64(b) {
			a ^= b << (bits.Len64(a) - bits.Len64(b))
		}
		a, b = b, a
	}
	if a != 1 {
		t.Errorf("common factor %x", a)
	}
}

// Any change within 8 successive bytes is detected, in one piece or in many.
func TestPairFindsAccidents(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	message := make([]byte, 1000)
	for i := range message {
		message[i] = byte(random.Uint32())
	}
	sum := func(pieces ...[]byte) []byte {
		c := new(Pair)
		for _, p := range pieces {
			c.Write(p)
		}
		return c.Sum(nil)
	}
	want := sum(message)
	if len(want) != Size || new(Pair).Size() != Size {
		t.Errorf("%d bytes", len(want))
	}
	for range 1000 {
		at, cut := random.IntN(len(message)-7), random.IntN(len(message))
		if !bytes.Equal(sum(message[:cut], message[cut:]), want) {
			t.Fatalf("cut at %d: another checksum", cut)
		}
		changed := bytes.Clone(message)
		for i := range 8 {
			changed[at+i] ^= byte(random.Uint32())
		}
		if bytes.Equal(changed, message) {
			continue
		}
		if bytes.Equal(sum(changed), want) {
			t.Fatalf("8 bytes at %d changed, and the checksum is the same", at)
		}
	}
}

// An error within 8 bytes is also detected if some of them are the last of a message and
// the others the first of its checksum. The checksum is linear, so it suffices that no
// change of the last k bytes leaves the last k bytes of the checksum unchanged: the
// changes by one bit are linearly independent there.
func TestPairFindsAccidentsAtItsEnd(t *testing.T) {
	sum := func(b []byte) uint64 {
		c := new(Pair)
		c.Write(b)
		return binary.LittleEndian.Uint64(c.Sum(nil))
	}
	for k := 1; k < Size; k++ {
		message := make([]byte, 50)
		plain := sum(message)
		var basis []uint64
		for bit := range 8 * k {
			at := len(message) - k + bit/8
			message[at] ^= 1 << (bit % 8)
			v := (sum(message) ^ plain) >> (8 * (Size - k))
			message[at] ^= 1 << (bit % 8)
			for _, b := range basis {
				v = min(v, v^b)
			}
			if v == 0 {
				t.Fatalf("%d bytes: some change of %d bits is not found", k, bit+1)
			}
			basis = append(basis, v)
		}
	}
}
