package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDiskFull writes to the device on which there is never room.
func TestDiskFull(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.npy")
	if err := os.Symlink("/dev/full", out); err != nil {
		t.Fatal(err)
	}
	refuse(t, exitFailed, []string{"generate", "-n", "1000", "-d", "10", "-out", out}, out, "no space left")
	refuse(t, exitFailed, []string{"embed", toy(t), "-sigma", "1", "-out", out}, out, "no space left")
}
