package mechanism

import (
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/internal/entropy"
	"github.com/seed-64e14a55/privatemail/internal/noise"
)

// system is the source of randomness.
var system io.Reader = entropy.System{}

// chunkSize is how many coordinates share a stream.
const chunkSize = 1 << 16

// secrets is the randomness of one release. It is drawn before any work, lives
// for one release and is overwritten afterwards.
type secrets struct {
	id     [16]byte // not secret: it names the release
	chunks []noise.Seed
	labels []noise.Seed // one or none
}

// drawSecrets reads the seeds of the chunks in order, the seed of the labels if
// wanted, and the identifier. There is no second source.
func drawSecrets(source io.Reader, chunks int, labels bool) (*secrets, error) {
	s := &secrets{chunks: make([]noise.Seed, chunks)}
	if labels {
		s.labels = make([]noise.Seed, 1)
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
