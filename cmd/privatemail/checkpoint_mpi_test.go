//go:build mpi && cgo && linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// ranksWith returns the processes that run this binary with an argument.
func ranksWith(t *testing.T, argument string) (pids []int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		line, err := os.ReadFile(path)
		words := strings.Split(string(line), "\x00")
		if err != nil || words[0] != self || !strings.Contains(string(line), argument) {
			continue // many have ended by now
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// A run that has lost a rank goes on from its checkpoint on other numbers of ranks, to the
// bytes of a run that has lost none.
func TestMPICheckpoint(t *testing.T) {
	folder := t.TempDir()
	file, out := filepath.Join(folder, "run.checkpoint"), filepath.Join(folder, "z.npy")
	args := []string{"embed", filepath.Join(rankSet(t, 5000, 3), "set"), "-mean-neighbours", "12", "-beta", "3", "-normalize", "centred", "-workers", "1"}
	kept := append(args[:len(args):len(args)], "-checkpoint", file, "-checkpoint-every", "1", "-out", out)

	cmd := childtest.Ranks(t, 4, childtest.Command(t, []string{asCommand + "=1"}, append(kept, "-steps", "1000000", "-quiet")...))
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for waiting := true; waiting; {
		select {
		case err := <-ended:
			t.Fatalf("the run has ended: %v\n%s", err, messages.String())
		case <-time.After(5 * time.Millisecond):
			waiting = !files.Exists(file)
		}
	}
	pids := ranksWith(t, file)
	if len(pids) != 4 {
		t.Fatalf("%d ranks run", len(pids))
	}
	if err := syscall.Kill(pids[2], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("a run that has lost a rank has ended well")
	}
	for len(ranksWith(t, file)) > 0 { // MPI ends those that are left
		time.Sleep(10 * time.Millisecond)
	}
	if files.Exists(out) {
		t.Error("a run that was killed has an output")
	}
	taken := stepsIn(t, file)
	checkpoint := readFile(t, file)
	steps := strconv.Itoa(taken + 10)
	plain := filepath.Join(folder, "plain.npy")
	succeed(t, append(args, "-steps", steps, "-out", plain)...)
	for _, ranks := range []int{2, 3, 1} {
		if err := os.WriteFile(file, []byte(checkpoint), 0o666); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := launch(t, ranks, append(kept, "-steps", steps, "-resume")...)
		if code != cli.OK || strings.Count(stderr, "after step "+strconv.Itoa(taken)) != 1 {
			t.Fatalf("%d ranks end with %d\n%s\n%s", ranks, code, stderr, stdout)
		}
		if readFile(t, out) != readFile(t, plain) {
			t.Errorf("resumed on %d ranks: other bytes", ranks)
		}
		if files.Exists(file) {
			t.Errorf("%d ranks leave the checkpoint", ranks)
		}
	}
	// A checkpoint of another run is refused in one line.
	if err := os.WriteFile(file, []byte(checkpoint), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := launch(t, 2, append(kept, "-steps", steps, "-resume", "-beta", "2")...)
	if code != cli.Failed || strings.Count(stderr, "another run: other coefficient;") != 1 {
		t.Errorf("another run: %d\n%s", code, stderr)
	}
}
