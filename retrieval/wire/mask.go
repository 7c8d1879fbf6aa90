package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
)

// newMask returns the stream that covers the lists of an answer, and uncovers them:
// AES-128 in counter mode, whose key and first counter are the two halves of SHA-256 of
// a name for its purpose and of asked, the bytes of the body before the lists.
//
// Covered bytes do not compress, so that an answer keeps its length where a transport
// compresses, full lists or empty ones. Rows that somebody has made to fit the mask would:
// it follows from the codebook and the cells, and is no secret. It is no encryption:
// whoever has the message can uncover it.
func newMask(asked []byte) cipher.Stream {
	seed := sha256.Sum256(append([]byte("privatemail mask 2"), asked...))
	block, err := aes.NewCipher(seed[:16])
	if err != nil {
		panic(err) // 16 bytes are a key
	}
	return cipher.NewCTR(block, seed[16:])
}
