//go:build unix

package clitest

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

// Interrupt runs the test binary, which the variable makes the command, with args. It
// sends the signal once the given number of lines of the command's messages have had the
// words, so in the middle of the work between them, and waits for the end. It returns what
// the command printed, the messages after the signal, and how it ended. A command that
// does not end within limit is killed.
func Interrupt(t *testing.T, variable string, args []string, words string, lines int, signal syscall.Signal, limit time.Duration) (stdout, stderr string, ended error) {
	t.Helper()
	cmd := childtest.Command(t, []string{variable + "=1"}, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer guard.Stop()
	messages := bufio.NewReader(pipe)
	for lines > 0 {
		line, err := messages.ReadString('\n')
		if err != nil {
			t.Fatalf("no progress: %v", err)
		}
		if strings.Contains(line, words) {
			lines--
		}
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(messages)
	if err != nil {
		t.Fatal(err)
	}
	ended = cmd.Wait()
	return out.String(), string(rest), ended
}
