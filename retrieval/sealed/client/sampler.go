package client

import (
	"crypto/aes"
	"crypto/cipher"
	"math/bits"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
)

// errorTable is the law of errors.
var errorTable = scheme.ErrorTable()

// addErrors adds the errors of columns from first on to words. In the stream of a ciphertext
// they follow its secret, a 64-bit word a column, so that each column has its own whoever
// encrypts it. first is even.
func addErrors(words []uint32, stream cipher.Block, first int) {
	const secretBlocks, columnsOfBlock = 4 * scheme.SecretWords / aes.BlockSize, aes.BlockSize / 8
	var drawn [2 * encryptedColumns]uint32
	scheme.FillWords(drawn[:2*len(words)], stream, secretBlocks+uint64(first)/columnsOfBlock)
	for i := range words {
		words[i] += sampleError(uint64(drawn[2*i]) | uint64(drawn[2*i+1])<<32)
	}
	clear(drawn[:])
}

// sampleError returns the error of a word, modulo 2^32. It looks at the whole table and has no
// branch and no index that depends on the word: its time tells nothing about the error.
func sampleError(word uint64) uint32 {
	var size uint64
	for _, most := range &errorTable {
		_, below := bits.Sub64(word>>1, most, 0)
		size += 1 - below
	}
	sign := -uint32(word & 1)
	return (uint32(size) ^ sign) - sign
}
