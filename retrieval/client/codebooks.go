package client

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A CodebookMemory is a Memory that knows under which codebooks its records were released.
// Under another codebook each of them spends its epsilon again. Clients ask it before they
// spend, wherever the codebook came from: addresses of servers do not matter.
type CodebookMemory interface {
	Memory
	// NewCodebook reports whether the memory has been used, and never with this codebook.
	NewCodebook(codebook wire.Hash) (bool, error)
	// Admit notes a codebook before anything is released under it, durably if that is the
	// memory's kind. A new one, as NewCodebook says, is refused with ErrNewCodebook unless the
	// caller accepts it. All who share the memory agree about what it knows.
	Admit(codebook wire.Hash, accept bool) error
}

// admit has the memory note the codebook. A codebook that is confirmed is accepted.
func (c *Cells) admit() error {
	memory, ok := c.settings.Memory.(CodebookMemory)
	if !ok || c.admitted.Load() {
		return nil
	}
	if err := memory.Admit(c.settings.Codebook, !c.settings.UnconfirmedCodebook || c.settings.NewCodebook); err != nil {
		return err
	}
	c.admitted.Store(true)
	return nil
}

// NewCodebook implements CodebookMemory.
func (v *volatile) NewCodebook(codebook wire.Hash) (bool, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return len(v.codebooks) > 0 && !slices.Contains(v.codebooks, codebook), nil
}

// Admit implements CodebookMemory.
func (v *volatile) Admit(codebook wire.Hash, accept bool) error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	switch {
	case slices.Contains(v.codebooks, codebook):
		return nil
	case len(v.codebooks) > 0 && !accept:
		return fmt.Errorf("client: %w", ErrNewCodebook)
	}
	v.codebooks = append(v.codebooks, codebook)
	return nil
}

const (
	// codebooksName is the file of a Folder that has the codebooks, each in a line.
	codebooksName = "codebooks"
	codebookLine  = 2*len(wire.Hash{}) + 1
	mostCodebooks = 1 << 16
)

var errCodebooks = errors.New("the file of its codebooks is damaged: put back a copy, or remove the file if each record may spend again under a new codebook")

// NewCodebook implements CodebookMemory. A folder that holds releases and no codebook has been
// used with one that it does not know.
func (f *Folder) NewCodebook(codebook wire.Hash) (bool, error) {
	var noted []wire.Hash
	file, err := os.Open(filepath.Join(f.path, codebooksName))
	if err == nil {
		noted, _, err = readCodebooks(file)
		file.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, memoryError(err)
	}
	return f.isNew(codebook, noted)
}

// isNew is NewCodebook for what the file of codebooks has.
func (f *Folder) isNew(codebook wire.Hash, noted []wire.Hash) (bool, error) {
	if slices.Contains(noted, codebook) {
		return false, nil
	}
	earlier, err := f.earlierCodebooks()
	if err != nil {
		return false, memoryError(err)
	}
	if slices.Contains(earlier, codebook) {
		return false, nil
	}
	if len(noted)+len(earlier) > 0 {
		return true, nil
	}
	used, err := f.used()
	if err != nil {
		return false, memoryError(err)
	}
	return used, nil
}

// used reports whether there is a log with an entry, or a file of the format before logs.
func (f *Folder) used() (bool, error) {
	for i := range f.logs {
		if info, err := os.Lstat(f.logs[i].path); err == nil && info.Size() > logHeader {
			return true, nil
		}
	}
	entries, err := os.ReadDir(f.path)
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), releaseEnding) }), err
}

// earlierCodebooks returns the codebooks of files with "codebook-" at the beginning of their
// names, one for each, which earlier versions of privatemail query have written.
func (f *Folder) earlierCodebooks() (known []wire.Hash, err error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if ok, _ := filepath.Match("codebook-[0-9a-f]*", e.Name()); !ok {
			continue
		}
		file, err := os.Open(filepath.Join(f.path, e.Name()))
		if err != nil {
			return nil, err
		}
		one, _, err := readCodebooks(file)
		file.Close()
		if err != nil || len(one) != 1 {
			return nil, errors.Join(err, errCodebooks)
		}
		known = append(known, one[0])
	}
	return known, nil
}

// readCodebooks returns the hashes of a file and where the last whole line ends. What is
// behind that is of a crash, before anything was released.
func readCodebooks(r io.Reader) (known []wire.Hash, end int64, err error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(mostCodebooks*codebookLine+1)))
	if err != nil {
		return nil, 0, err
	}
	if len(text) > mostCodebooks*codebookLine {
		return nil, 0, errCodebooks
	}
	text = bytes.TrimRight(text, "\x00") // a line that was not written before a crash
	for len(text) >= codebookLine {
		line := text[:codebookLine]
		var hash wire.Hash
		if _, err := hex.Decode(hash[:], line[:codebookLine-1]); err != nil || line[codebookLine-1] != '\n' {
			return nil, 0, errCodebooks
		}
		known, text, end = append(known, hash), text[codebookLine:], end+int64(codebookLine)
	}
	if bytes.ContainsRune(text, '\n') {
		return nil, 0, errCodebooks
	}
	return known, end, nil
}

// Admit implements CodebookMemory.
func (f *Folder) Admit(codebook wire.Hash, accept bool) error {
	file, err := openHeld(context.Background(), filepath.Join(f.path, codebooksName))
	if err != nil {
		return memoryError(err)
	}
	defer file.Close() // what is written is synced
	noted, end, err := readCodebooks(file)
	if err != nil {
		return memoryError(err)
	}
	if slices.Contains(noted, codebook) {
		return nil
	}
	if !accept {
		switch isNew, err := f.isNew(codebook, noted); {
		case err != nil:
			return err
		case isNew:
			return fmt.Errorf("client: %w", ErrNewCodebook)
		}
	}
	if err := addCodebook(file, end, codebook); err != nil {
		return memoryError(err)
	}
	return nil
}

// addCodebook returns when a line is on the disk.
func addCodebook(file *os.File, end int64, codebook wire.Hash) error {
	if err := file.Truncate(end); err != nil {
		return err
	}
	if _, err := file.WriteAt(fmt.Appendf(nil, "%x\n", codebook), end); err != nil {
		return errors.Join(err, file.Truncate(end))
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return disk.SyncFolder(filepath.Dir(file.Name()))
}
