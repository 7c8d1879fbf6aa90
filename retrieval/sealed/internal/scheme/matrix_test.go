package scheme

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"
)

// The matrix is what the definition says, in one piece or many. Its key follows from the epoch.
func TestMatrix(t *testing.T) {
	epoch := [32]byte{1, 2, 3}
	key := sha256.Sum256(append([]byte("privatemail sealed A 1"), epoch[:]...))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	const rows = 7
	stream := make([]byte, 4*rows*SecretWords)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(stream, stream)
	want := make([]uint32, rows*SecretWords)
	for i := range want {
		want[i] = binary.LittleEndian.Uint32(stream[4*i:])
	}
	m := NewMatrix(epoch)
	for first := range rows {
		for last := first; last <= rows; last++ {
			got := make([]uint32, (last-first)*SecretWords)
			m.Rows(got, first)
			if !slices.Equal(got, want[first*SecretWords:last*SecretWords]) {
				t.Errorf("rows %d to %d differ", first, last)
			}
		}
	}
	other := make([]uint32, SecretWords)
	NewMatrix([32]byte{1, 2, 4}).Rows(other, 0)
	if slices.Equal(other, want[:SecretWords]) {
		t.Error("two epochs have one matrix")
	}
}

// The bits of the matrix are part of the format: they stay as they are.
func TestMatrixStays(t *testing.T) {
	row := make([]uint32, SecretWords)
	NewMatrix([32]byte{}).Rows(row, 1<<20)
	if got := [2]uint32{row[0], row[SecretWords-1]}; got != [2]uint32{0x283665e9, 0x5b5a99ec} {
		t.Errorf("%#x", got)
	}
}
