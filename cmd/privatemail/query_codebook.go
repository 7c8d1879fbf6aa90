package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A pin is a file in the folder of -memory that says under which codebook the records of
// that folder were last sent to a server. A server with another one would make each record
// spend again, and without the pin nobody would notice.
type pin string

// pinOf returns the pin of a server. Its address is in the name as a hash.
func pinOf(memory, address string) pin {
	sum := sha256.Sum256([]byte(strings.TrimRight(address, "/")))
	return pin(filepath.Join(memory, fmt.Sprintf("codebook-%x", sum[:8])))
}

// read returns the codebook, false if nothing was sent yet.
func (p pin) read() (hash wire.Hash, ok bool, err error) {
	f, err := os.Open(string(p))
	if errors.Is(err, fs.ErrNotExist) {
		return hash, false, nil
	}
	if err != nil {
		return hash, false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 2*sha256.Size+2))
	if err != nil {
		return hash, false, err
	}
	sum, err := hex.DecodeString(strings.TrimSuffix(string(text), "\n"))
	if err != nil || len(sum) != len(hash) {
		return hash, false, fmt.Errorf("%s: it does not hold the hash of a codebook; remove it if every record may spend again under a new one", p)
	}
	return wire.Hash(sum), true, nil
}

// write notes the codebook.
func (p pin) write(ctx context.Context, hash wire.Hash) error {
	return formats.WriteFile(ctx, string(p), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%x\n", hash)
		return err
	})
}

// newCodebook is what is said of a codebook that is not the one of before.
func newCodebook(before, now wire.Hash) error {
	return fmt.Errorf("the server has a new codebook, %x, and had %x when records of this memory were last sent: each record would spend its epsilon again; -accept-new-codebook goes on all the same, and so does -codebook with the new hash from a second path", now, before)
}
