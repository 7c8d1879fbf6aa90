//go:build unix

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// Ctrl-C in the middle of peers prints the rounds that were finished, as a table and as
// JSON, keeps them, says so, and leaves no other file.
func TestPeersInterrupted(t *testing.T) {
	longtest.Only(t)
	for _, c := range []struct {
		signal syscall.Signal
		args   string
		words  string
	}{
		{syscall.SIGINT, "", "of 1000000 rounds"},
		{syscall.SIGTERM, "-json", `"wanted_rounds":1000000`},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			kept := t.TempDir()
			args := "peers -record " + kept + " -suite spmm -n 2000 -peer james -case k=1/layout=plain/workers=1 -count 1000000 -slice 1ns -no-limits " + c.args
			stdout, stderr, err := clitest.Interrupt(t, asCommand, strings.Fields(args), "spmm: order=", 2, c.signal, 2*time.Minute)
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != cli.Interrupted || !strings.HasSuffix(stderr, "pmbench: peers: interrupted\n") || !strings.Contains(stderr, "ended early; ratios of finished rounds: 1\n") {
				t.Errorf("ended with %v and %q", err, stderr)
			}
			if !strings.Contains(stdout, c.words) || !strings.Contains(stdout, "james-bowman/sparse") {
				t.Errorf("%s", stdout)
			}
			_, ratios := recorded(t, kept)
			if len(ratios) != 1 || ratios[0].WantedRounds != 1000000 || ratios[0].Rounds == 0 || !strings.Contains(stderr, "peers-spmm-part-k-1-") || !strings.Contains(stderr, "-ended-early.jsonl\n") {
				t.Errorf("kept %+v; %s", ratios, stderr)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// recorded reads the only recording below a folder.
func recorded(t *testing.T, folder string) ([]*record.Record, []*record.Ratio) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	records, ratios, err := record.Read(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return records, ratios
}

// interruptedRun are arguments of a run of short operations that does not end by itself,
// and words of its progress.
const (
	interruptedRun   = "run -suite iterate -case kind=classes/.*workers=1 -count 1000000 -no-limits"
	interruptedWords = "iterate: op="
)

// A signal in the middle of run prints the rounds that were finished, marked, as a table
// and as JSON, and keeps them next to what there was.
func TestRunInterrupted(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		args   string
		words  string
	}{
		{syscall.SIGTERM, "", "(ended early)"},
		{syscall.SIGINT, "-json", `"suite":"iterate"`},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			folder := t.TempDir()
			out := filepath.Join(folder, "run.txt")
			if err := os.WriteFile(out, []byte("whole"), 0o644); err != nil {
				t.Fatal(err)
			}
			args := interruptedRun + " -out " + out + " -record " + folder + " " + c.args
			stdout, stderr, err := clitest.Interrupt(t, asCommand, strings.Fields(args), interruptedWords, 2, c.signal, 2*time.Minute)
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != cli.Interrupted || !strings.HasSuffix(stderr, "pmbench: run: interrupted\n") || !strings.Contains(stderr, "ended early; measurements of finished rounds: ") {
				t.Errorf("ended with %v and %q", err, stderr)
			}
			if !strings.Contains(stdout, c.words) {
				t.Errorf("%s", stdout)
			}
			records, _ := recorded(t, folder)
			if len(records) == 0 || !records[0].EndedEarly || !strings.Contains(stderr, "iterate-part-kind-") || !strings.Contains(stderr, "-ended-early.jsonl\n") {
				t.Errorf("kept %+v; %s", records, stderr)
			}
			if text, err := os.ReadFile(out); err != nil || string(text) != "whole" {
				t.Errorf("what there was became %q, %v", text, err)
			}
			text, err := os.ReadFile(filepath.Join(folder, "run-ended-early.txt"))
			if err != nil || !strings.Contains(string(text), "ended: early\n") || strings.Count(string(text), "BenchmarkIterate/") != len(records) {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}

// A second signal ends a program at once that still has to write what it measured: here to
// a pipe that nobody reads.
func TestSecondSignal(t *testing.T) {
	longtest.Only(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := childtest.Command(t, []string{asCommand + "=1"}, strings.Fields(interruptedRun+" -out "+pipe)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() }).Stop()
	seen, waiting := 0, false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.Contains(lines.Text(), interruptedWords) {
			if seen++; seen == 2 {
				cmd.Process.Signal(syscall.SIGINT)
			}
		}
		if strings.Contains(lines.Text(), "what was measured goes to "+pipe) {
			waiting = true
			// Again and again: one that comes just after the first is still taken for it.
			again := time.NewTicker(100 * time.Millisecond)
			defer again.Stop()
			ended := make(chan struct{})
			defer close(ended)
			go func() {
				for cmd.Process.Signal(syscall.SIGINT) == nil {
					select {
					case <-again.C:
					case <-ended:
						return
					}
				}
			}()
		}
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !waiting || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v, waiting: %v", err, waiting)
	}
}
