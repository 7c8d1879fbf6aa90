//go:build mpi && cgo

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

// A test starts this binary again, as several ranks: each runs one of the programs instead of
// tests, and exits with the code of World.End.
func TestMain(m *testing.M) {
	name := os.Getenv("PM_RANK_PROGRAM")
	if name == "" {
		os.Exit(m.Run())
	}
	// A launcher may drop what was printed before an abort: errors go to a file.
	if path := os.Getenv("PM_RANK_ERRORS"); path != "" {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			panic(err)
		}
		os.Stderr = file
	}
	silence, err := time.ParseDuration(os.Getenv("PM_RANK_SILENCE"))
	if err != nil {
		silence = mostSilence
	}
	w, err := open(silence)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	err = w.End(programs[name](w))
	var ended *endedError
	if errors.As(err, &ended) {
		os.Exit(ended.Code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "alone:", err)
		os.Exit(1)
	}
}

// A codedError is an error with an exit code.
type codedError struct {
	text string
	code int
}

func (e *codedError) Error() string { return e.text }
func (e *codedError) ExitCode() int { return e.code }

// programs are the programs of ranks, by name.
var programs = map[string]func(*World) error{}

// launched is a run of a program on several ranks.
type launched struct {
	*exec.Cmd
	printed bytes.Buffer // by the ranks and the launcher
	errors  string       // the file that ranks print errors to
}

// ranksOf returns a run of a program, which has not started.
func ranksOf(t *testing.T, ranks int, program string, variables ...string) *launched {
	t.Helper()
	l := &launched{errors: filepath.Join(t.TempDir(), "errors")}
	variables = append(variables, "PM_RANK_PROGRAM="+program, "PM_RANK_ERRORS="+l.errors)
	l.Cmd = childtest.Ranks(t, ranks, childtest.Command(t, variables))
	l.Stdout, l.Stderr = &l.printed, &l.printed
	l.WaitDelay = 5 * time.Second
	return l
}

// run runs it to its end, and fails the test if the exit code is not the given one.
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
	t.Cleanup(func() { l.Process.Kill() }) // fails where it has ended
}

func (l *launched) end(t *testing.T, code int) {
	t.Helper()
	stuck := time.AfterFunc(60*time.Second, func() { l.Process.Signal(os.Interrupt) })
	l.Wait()
	if !stuck.Stop() {
		t.Fatalf("the ranks did not end\n%s", l.said())
	}
	if got := l.ProcessState.ExitCode(); got != code {
		t.Fatalf("exit code %d, want %d\n%s", got, code, l.said())
	}
}

// said returns everything that was printed.
func (l *launched) said() string {
	text, err := os.ReadFile(l.errors)
	if err != nil {
		return l.printed.String() + err.Error()
	}
	return l.printed.String() + string(text)
}

// lines returns the lines that hold a text.
func (l *launched) lines(text string) (found []string) {
	for line := range strings.Lines(l.said()) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
