//go:build mpi && cgo

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/ranks"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// onRanks runs the command on ranks of mpirun.
func onRanks(t *testing.T, ranks int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := childtest.Ranks(t, ranks, childtest.Command(t, []string{asCommand + "=1"}, args...))
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), messages.String()
}

// Under mpirun rank 0 alone prints, and halos are less than the iterate.
func TestMPIRanks(t *testing.T) {
	const cases = "graph=cells/d=2/.*strong|op=step/graph=(codes|grid)"
	code, stdout, stderr := onRanks(t, 2, "run", "-suite", "ranks", "-n", "4000", "-case", cases, "-count", "1", "-no-limits", "-json", "-quiet")
	if code != cli.OK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	names := map[any]bool{}
	for line := range strings.Lines(stdout) {
		v := object(t, line)
		figures := v["ranks"].(map[string]any)
		if names[v["case"]] || figures["ranks"] != 2.0 || !strings.Contains(v["case"].(string), "ranks=2/workers=1") || !strings.HasPrefix(v["command"].(string), "mpirun -n 2 ") {
			t.Errorf("%s", line)
		}
		names[v["case"]] = true
		if strings.HasPrefix(v["case"].(string), "op=step/graph=cells/d=2") && figures["exchanged_bytes"].(float64) > figures["allgatherv_bytes"].(float64)/2 {
			t.Errorf("%s", line)
		}
	}
	if len(names) != 4 {
		t.Errorf("%d cases: %v", len(names), names)
	}
}

// What is for one process is refused once.
func TestMPIRefused(t *testing.T) {
	for _, args := range [][]string{{"run", "-suite", "spmm"}, {"ranks"}} {
		code, stdout, stderr := onRanks(t, 2, args...)
		if code == cli.OK || stdout != "" || strings.Count(stderr, "one process, and 2 were started") != 1 {
			t.Errorf("%q: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
}

// The side of a contest that is ours measures on ranks of mpirun.
func TestMPIOurSideOfAContest(t *testing.T) {
	c := childtest.Ranks(t, 2, childtest.Command(t, []string{asCommand + "=1"}))
	for _, set := range c.Env { // of this process, too: it starts mpirun itself
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	l := measure.NewLab(measure.Machine(), measure.NewMeter(&cli.Env{Quiet: true}))
	defer l.Close()
	l.Rows = 4000
	seconds, err := ranks.Seconds(t.Context(), l.Machine, c.Args[0], l.Rows, 2, 0, suites.RankCases(l, 2)[1])
	if err != nil || len(seconds) != 1 || seconds[0] <= 0 {
		t.Errorf("%v, %v", seconds, err)
	}
}
