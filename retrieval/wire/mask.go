package wire

import (
	"crypto/sha256"
	"crypto/subtle"
	"math/rand/v2"
)

// mask covers body[from:], in place, with a stream of ChaCha8 whose seed is SHA-256
// of a name for its purpose and of body[:from]. A second call uncovers it.
//
// Covered bytes do not compress, whatever they are, so that an answer keeps its
// length where a transport compresses, full lists or empty ones. It is no
// encryption: whoever has the message can uncover it.
func mask(body []byte, from int) {
	seed := sha256.New()
	seed.Write([]byte("privatemail mask 1"))
	seed.Write(body[:from])
	stream := rand.NewChaCha8([32]byte(seed.Sum(nil)))
	var cover [4096]byte
	for rest := body[from:]; len(rest) > 0; {
		stream.Read(cover[:]) // does not fail
		rest = rest[subtle.XORBytes(rest, rest, cover[:min(len(rest), len(cover))]):]
	}
}
