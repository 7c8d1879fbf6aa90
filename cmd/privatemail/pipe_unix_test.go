//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A release can go to standard output, and nothing else goes there.
func TestReleaseToStandardOutput(t *testing.T) {
	args := private(toy(t), "none", files.StandardOutput)
	cmd := childtest.Command(t, []string{asCommand + "=1"}, args[:len(args)-1]...) // without -quiet
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &messages)
	}
	if _, err := release.Read(&out); err != nil {
		t.Error(err)
	}
	if !bytes.Contains(messages.Bytes(), []byte("guarantee")) {
		t.Errorf("no summary: %s", &messages)
	}
}

// A reader that goes away before the release comes does not take it along.
func TestReleaseToClosedPipe(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	rescue := t.TempDir()
	cmd := childtest.Command(t, []string{asCommand + "=1", "TMPDIR=" + rescue}, private(toy(t), "none", files.StandardOutput)...)
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &messages
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != cli.Failed || !bytes.Contains(messages.Bytes(), []byte("it is kept in "+rescue)) {
		t.Errorf("%v: %s", err, &messages)
	}
	wantRescued(t, rescue)
}

// wantRescued looks for the one release in a folder.
func wantRescued(t *testing.T, folder string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(paths) != 1 || !files.IsRelease(paths[0]) {
		t.Fatalf("%q are no release: %v", paths, err)
	}
	if info, err := os.Stat(paths[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others may read it", info.Mode(), err)
	}
}
