// Package childtest lets a test run its own binary again, as another process. Environment
// variables tell that process its role: TestMain or the test looks for them.
package childtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Command returns the test binary as a command, with the environment variables of this
// process and the given ones, each of the form NAME=VALUE.
func Command(t testing.TB, variables []string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), variables...)
	return c
}

// Again runs the test that calls it in another process, which runs no other test, and
// returns what that process printed and how it ended. It is not for subtests.
func Again(t *testing.T, variables ...string) (output string, ended error) {
	t.Helper()
	out, err := Command(t, variables, "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v").CombinedOutput()
	return string(out), err
}

// A Child is a process that Start has started.
type Child struct {
	*exec.Cmd
	In    io.WriteCloser // its standard input
	Lines *bufio.Scanner // of its standard output
}

// Start starts the test binary. Its standard error is printed. It is killed at the end
// of the test if it still runs.
func Start(t testing.TB, variables ...string) *Child {
	t.Helper()
	c := Command(t, variables)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // both fail if the test has waited for its end
		c.Process.Kill()
		c.Wait()
	})
	return &Child{c, in, bufio.NewScanner(out)}
}
