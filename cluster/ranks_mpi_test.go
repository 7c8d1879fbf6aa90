//go:build mpi && cgo

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

// A test starts this binary again, as several ranks: each runs one of the programs instead of
// tests, and exits with the code that World.End gives.
func TestMain(m *testing.M) {
	name := os.Getenv("PM_RANK_PROGRAM")
	if name == "" {
		os.Exit(m.Run())
	}
	w, err := Open(WithSilence(3 * time.Second))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	err = w.End(programs[name](w))
	var ended *EndedError
	if errors.As(err, &ended) {
		os.Exit(ended.Code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "alone:", err)
		os.Exit(1)
	}
}

// A codedError has an exit code of its own.
type codedError struct {
	text string
	code int
}

func (e *codedError) Error() string { return e.text }
func (e *codedError) ExitCode() int { return e.code }

// programs are what ranks do.
var programs = map[string]func(*World) error{}

// launched is a run of a program on several ranks.
type launched struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	began          time.Time
}

// ranksOf returns a run of a program, which has not started.
func ranksOf(t *testing.T, ranks int, program string, variables ...string) *launched {
	t.Helper()
	l := &launched{Cmd: childtest.Ranks(ranks, childtest.Command(t, append(variables, "PM_RANK_PROGRAM="+program)))}
	l.Cmd.Stdout, l.Cmd.Stderr = &l.stdout, &l.stderr
	l.WaitDelay = 5 * time.Second
	return l
}

// run runs it to its end, and fails the test where the exit code is another.
func (l *launched) run(t *testing.T, code int) {
	t.Helper()
	l.start(t)
	l.end(t, code)
}

func (l *launched) start(t *testing.T) {
	t.Helper()
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	l.began = time.Now()
	t.Cleanup(func() { l.Process.Kill() }) // fails where it has ended
}

func (l *launched) end(t *testing.T, code int) {
	t.Helper()
	stuck := time.AfterFunc(60*time.Second, func() { l.Process.Signal(os.Interrupt) })
	l.Wait()
	if !stuck.Stop() {
		t.Fatalf("the ranks did not end by themselves\n%s%s", l.stdout.String(), l.stderr.String())
	}
	if got := l.ProcessState.ExitCode(); got != code {
		t.Fatalf("exit code %d, want %d\n%s%s", got, code, l.stdout.String(), l.stderr.String())
	}
}

// lines returns the lines of standard error that hold a text.
func (l *launched) lines(text string) (found []string) {
	for line := range strings.Lines(l.stderr.String()) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
