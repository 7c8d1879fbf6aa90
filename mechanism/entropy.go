package mechanism

import (
	"fmt"
	"io"
	"math/bits"
	chacha "math/rand/v2"

	"github.com/seed-64e14a55/privatemail/internal/entropy"
)

// system is the source of randomness.
var system io.Reader = entropy.System{}

// chunkSize is how many coordinates share a stream.
const chunkSize = 1 << 16

// A seed starts one stream of ChaCha8.
type seed [32]byte

// secrets is the randomness of one release. It is drawn before any work, lives
// for one release and is overwritten afterwards.
type secrets struct {
	id     [16]byte // not secret: it names the release
	chunks []seed
	labels []seed // one or none
}

// drawSecrets reads the seeds of the chunks in order, the seed of the labels if
// wanted, and the identifier. There is no second source.
func drawSecrets(source io.Reader, chunks int, labels bool) (*secrets, error) {
	s := &secrets{chunks: make([]seed, chunks)}
	if labels {
		s.labels = make([]seed, 1)
	}
	err := drawSeeds(source, s.chunks)
	if err == nil {
		err = drawSeeds(source, s.labels)
	}
	if err == nil {
		_, err = io.ReadFull(source, s.id[:])
	}
	if err != nil {
		s.forget()
		return nil, fmt.Errorf("mechanism: %w: %w", ErrEntropy, err)
	}
	return s, nil
}

// forget overwrites the seeds.
func (s *secrets) forget() {
	clear(s.chunks)
	clear(s.labels)
}

// A source gives independent uniform words.
type source interface{ Uint64() uint64 }

// stream runs use with the words of one seed and forgets them.
func stream(s *seed, use func(source)) {
	words := chacha.NewChaCha8(*s)
	use(words)
	words.Seed(seed{})
}

// below returns a number in 0 .. n-1, all exactly equally likely, n > 0. It
// takes the high word of n times a random word. Each number comes up for 2^64/n
// words, rounded up or down; the 2^64 mod n words with the smallest low words
// are drawn again, which leaves equally many words for each number (Lemire
// 2019).
func below(n uint64, words source) uint64 {
	for {
		high, low := bits.Mul64(words.Uint64(), n)
		if low >= n || low >= -n%n { // the first saves the division
			return high
		}
	}
}
