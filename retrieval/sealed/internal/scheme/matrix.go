package scheme

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
)

// A Matrix is the public matrix A of an epoch, with SecretWords words a row. Everybody
// makes it from the hash of the epoch: no server can choose it, and what is computed about
// one serves no other epoch. It is safe for concurrent use.
type Matrix struct{ block cipher.Block }

// matrixLabel begins what the key of a matrix is the hash of.
const matrixLabel = "privatemail sealed A 1"

// NewMatrix returns the matrix of an epoch.
func NewMatrix(epoch [sha256.Size]byte) *Matrix {
	key := sha256.Sum256(append([]byte(matrixLabel), epoch[:]...))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // a key of 32 bytes is always one
	}
	return &Matrix{block}
}

// Rows sets dst to rows of the matrix, one behind the other, from row first on: as many as
// fit in it. len(dst) is a multiple of SecretWords. The words are the little-endian words of
// AES-256 in counter mode from a counter of 0 on.
func (m *Matrix) Rows(dst []uint32, first int) {
	const rowBlocks = 4 * SecretWords / aes.BlockSize
	FillWords(dst, m.block, uint64(first)*rowBlocks)
}
