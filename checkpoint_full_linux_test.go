package privatemail

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// This device is always full.
func TestCheckpointOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.checkpoint")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	if err := sampleCheckpoint().Save(t.Context(), path); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
}
