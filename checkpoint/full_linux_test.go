package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// This device is always full.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.checkpoint")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	if err := Save(t.Context(), path, sample()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
}
