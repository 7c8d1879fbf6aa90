package query

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
)

// checkPin refuses a codebook that the folder of -sent has not been used with, while it has
// been with others: each record would spend again. Only the hash counts, whatever the address of
// the server is. The folder notes a codebook when the first record spends under it.
func (s *Session) checkPin() error {
	if s.flags.Memory == NoMemory || s.flags.confirmed() || s.flags.acceptNew {
		return nil
	}
	if _, err := os.Stat(s.flags.Memory); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	memory, err := client.OpenFolder(s.flags.Memory)
	if err != nil {
		return fmt.Errorf("%s: %w", s.flags.Memory, text.Bare(err))
	}
	isNew, err := memory.NewCodebook(s.hash)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", s.flags.Memory, text.Bare(err))
	case isNew:
		return s.newCodebook()
	}
	return nil
}

// newCodebook is what is said of a codebook that is new to the memory.
func (s *Session) newCodebook() error {
	return fmt.Errorf("%s has a codebook that is new to the memory %s, %x: under it each record would spend its epsilon again; -accept-new-codebook goes on all the same, and so does -codebook with this hash from a second path; for another gallery, -sent can name another folder", s.address, s.flags.Memory, s.hash)
}
