//go:build mpi && cgo

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// launch runs the command under mpirun.
func launch(t *testing.T, ranks int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := childtest.Ranks(t, ranks, childtest.Command(t, []string{asCommand + "=1"}, args...))
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		if _, ended := err.(*exec.ExitError); !ended {
			t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), out.String(), messages.String()
}

// Under mpirun the command writes the bytes that it writes without, and prints once.
func TestMPIWritesTheSameBytes(t *testing.T) {
	for _, c := range rankCases(t) {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			succeed(t, c.args(folder)...)
			want := filesOf(t, folder)
			for _, ranks := range []int{1, 2, 4} {
				folder := t.TempDir()
				code, stdout, stderr := launch(t, ranks, append(c.args(folder), "-json")...)
				if code != cli.OK || strings.Count(stdout, "\n") != 1 {
					t.Fatalf("%d ranks end with %d: %s\n%s", ranks, code, stderr, stdout)
				}
				compareFiles(t, ranks, filesOf(t, folder), want)
			}
		})
	}
}

// What is refused is refused in one line, with the exit code of one process.
func TestMPIRefuses(t *testing.T) {
	folder := rankSet(t, 60, 3)
	set, out := filepath.Join(folder, "set"), filepath.Join(folder, "z.npy")
	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{cli.Usage, "there is no flag -nonsense", []string{"embed", set, "-out", out, "-nonsense"}},
		{cli.Failed, "runs on one process, and 2 were started", []string{"serve", set}},
		{cli.Failed, "runs on one process, and 2 were started", []string{"privatize", set}},
		{cli.Failed, "no such file or folder", []string{"embed", filepath.Join(folder, "none.npy"), "-out", out}},
		{cli.Failed, "none", []string{"embed", set, "-out", filepath.Join(folder, "none", "z.npy")}},
	} {
		code, stdout, stderr := launch(t, 2, c.args...)
		if code != c.code || stdout != "" || strings.Count(stderr, c.words) < 1 || strings.Count(stderr, "privatemail: "+c.args[0]+": ") != 1 {
			t.Errorf("%s: %d\n%s\n%s", strings.Join(c.args, " "), code, stdout, stderr)
		}
	}
	if code, stdout, stderr := launch(t, 2, "embed", "-h"); code != cli.OK || strings.Count(stdout, "Examples") > 1 || stdout == "" {
		t.Errorf("help: %d\n%s\n%s", code, stdout, stderr)
	}
}

// Ranks that were started with different arguments are refused.
func TestMPIOtherArguments(t *testing.T) {
	own := childtest.Command(t, []string{asCommand + "=1"})
	differ := exec.Command("sh", "-c", `exec "$0" version "$OMPI_COMM_WORLD_RANK$PMI_RANK"`, own.Path)
	differ.Env = own.Env
	out, err := childtest.Ranks(t, 2, differ).CombinedOutput()
	if err == nil || strings.Count(string(out), "privatemail: rank 1 has other arguments") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}
