//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A pipe is written to and stays, and so does a link; a file keeps its permissions.
func TestOutputIsNotReplaced(t *testing.T) {
	folder := t.TempDir()
	file, link, pipe := filepath.Join(folder, "file"), filepath.Join(folder, "link"), filepath.Join(folder, "pipe")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // a picture fits into a pipe
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, out := range []string{link, pipe} {
		code, _, stderr := call("roofline", filepath.Join("testdata", "report", "runs.jsonl"), "-svg", out)
		if code != cli.OK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	for path, want := range map[string]os.FileMode{file: 0o600, link: os.ModeSymlink, pipe: os.ModeNamedPipe} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode(); got.Type() != want.Type() || want.IsRegular() && (got != want || info.Size() == 0) {
			t.Fatalf("%s is %v with %d bytes, want %v", path, got, info.Size(), want)
		}
	}
	text := make([]byte, 1<<16)
	if n, err := reader.Read(text); err != nil || !strings.Contains(string(text[:n]), "<svg") {
		t.Errorf("from the pipe %q, %v", text[:n], err)
	}
}
