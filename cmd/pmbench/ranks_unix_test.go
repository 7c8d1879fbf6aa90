//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// launcher writes a program that stands for mpirun.
func launcher(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "launcher")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// The program that is measured is this one, started by the command of -mpirun with its own
// options before ours.
func TestRanksThatALauncherStarts(t *testing.T) {
	t.Setenv(asCommand, "1")
	start := launcher(t, `[ "$1 $2 $3" = "--mark -n 1" ] && shift 3 && exec "$@"`)
	code, stdout, stderr := call("ranks", "-quiet", "-ranks", "1", "-mpirun", start+" --mark", "-n", "2000", "-count", "2", "-times", "1", "-case", "op=step/graph=(cells/d=3|grid).*strong", "-json")
	if code != cli.OK || strings.Count(stdout, "\n") != 2 {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	for line := range strings.Lines(stdout) {
		if v := object(t, line); v["rounds"] != 2.0 || v["n"] != 2000.0 || v["ranks"] != 1.0 {
			t.Errorf("%s", line)
		}
	}
}

// A launcher that fails, or prints something else, is an error that names the case.
func TestLauncherThatFails(t *testing.T) {
	for script, words := range map[string]string{
		"(echo ------; echo no slots; echo ------) >&2; exit 3":                             "no slots",
		"(echo pmbench: built without MPI; echo ------; echo a process failed) >&2; exit 1": "built without MPI",
		"echo hello": "malformed record",
	} {
		refuse(t, cli.Failed, []string{"ranks", "-quiet", "-ranks", "2", "-mpirun", launcher(t, script), "-n", "2000", "-case", "grid"}, words, "graph=grid", "2 ranks")
	}
}
