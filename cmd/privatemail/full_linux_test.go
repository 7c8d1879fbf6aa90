package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// TestDiskFull writes to the device on which there is never room.
func TestDiskFull(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.npy")
	if err := os.Symlink("/dev/full", out); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, []string{"generate", "-n", "1000", "-d", "10", "-out", out}, out, "no space left")
	refuse(t, cli.Failed, []string{"embed", toy(t), "-sigma", "1", "-out", out}, out, "no space left")
	refuse(t, cli.Failed, []string{"apply", modelOf(t, toy(t), "classic"), toy(t), "-out", out}, out, "no space left")
	refuse(t, cli.Failed, []string{"fit", toy(t), "-recipe", "raw", "-measure=false", "-model", out}, out, "no space left")
}

// A release that was paid for is not lost when there is no room for it.
func TestReleaseOnFullDisk(t *testing.T) {
	temp, rescue := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", rescue)
	out := filepath.Join(temp, "r.release")
	if err := os.Symlink("/dev/full", out); err != nil {
		t.Fatal(err)
	}
	args := private(toy(t), newLedger(t, temp), out)
	refuse(t, cli.Failed, args, "budget is spent", "no space left", "it is kept in "+rescue)
	wantRescued(t, rescue)

	t.Setenv("TMPDIR", filepath.Join(rescue, "nowhere"))
	refuse(t, cli.Failed, args, "budget is spent", "no space left", "nor kept", "no such file")
}
