//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A release can go to standard output, and nothing else goes there.
func TestReleaseToStandardOutput(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := private(toy(t), "none", standardOutput)
	cmd := exec.Command(program, args[:len(args)-1]...) // without -quiet
	cmd.Env = append(os.Environ(), asCommand+"=1")
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
