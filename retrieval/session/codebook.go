package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-64e14a55/privatemail/retrieval/client"
)

// checkPin refuses a codebook that the folder Sent has not been used with, while it has
// been with others: each record would spend again. Only the hash counts, whatever the address of
// the server is. The folder notes a codebook when the first record spends under it.
func (s *Session) checkPin() error {
	if s.settings.Sent == "" || s.settings.confirmed() || s.settings.NewCodebook {
		return nil
	}
	if _, err := os.Stat(s.settings.Sent); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	memory, err := s.openSent()
	if err != nil {
		return err
	}
	isNew, err := memory.NewCodebook(s.hash)
	switch {
	case err != nil:
		return fmt.Errorf("session: %s: %w", s.settings.Sent, err)
	case isNew:
		return s.newCodebook()
	}
	return nil
}

// newCodebook refuses a codebook that is new to the memory.
func (s *Session) newCodebook() error {
	return s.refuse(Refusal{Err: client.ErrNewCodebook, Codebook: s.hash})
}
