//go:build !(mpi && cgo)

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

// A command that was built without MPI refuses to be one of several: each would do the whole
// work, and write the same file.
func TestSeveralProcessesWithoutMPI(t *testing.T) {
	out := filepath.Join(t.TempDir(), "z.npy")
	cmd := childtest.Command(t, []string{asCommand + "=1", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=1"}, "embed", toy(t), "-out", out)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 || files.Exists(out) {
		t.Errorf("%v", err)
	}
	if text := stderr.String(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "privatemail: ") || !strings.Contains(text, "without MPI") {
		t.Errorf("%q", text)
	}
}
