//go:build unix

package evaluate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A device that never ends must not be read.
func TestJournalIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.Symlink(os.DevNull, path); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path); !errors.Is(err, ErrJournal) {
		t.Error(err)
	}
}
