// Package noise draws exact Gaussian noise: normal numbers, rounded to integers, from streams of
// ChaCha8, without floating point. It rounds numbers to the grid that the noise is added on.
// Package entropy gives the seeds of the streams.
package noise

import (
	"math/bits"
	chacha "math/rand/v2"
)

// A Seed starts one stream of ChaCha8.
type Seed [32]byte

// A Source gives independent uniform words.
type Source interface{ Uint64() uint64 }

// Stream runs use with the words of one seed and forgets them.
func Stream(s *Seed, use func(Source)) {
	words := chacha.NewChaCha8(*s)
	use(words)
	words.Seed(Seed{})
}

// Below returns a number in 0 .. n-1, all exactly equally likely, n > 0. It
// takes the high word of n times a random word. Each number comes up for 2^64/n
// words, rounded up or down; the 2^64 mod n words with the smallest low words
// are drawn again, which leaves equally many words for each number (Lemire
// 2019).
func Below(n uint64, words Source) uint64 {
	for {
		high, low := bits.Mul64(words.Uint64(), n)
		if low >= n || low >= -n%n { // the first saves the division
			return high
		}
	}
}
