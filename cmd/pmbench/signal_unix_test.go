//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Ctrl-C in the middle of peers prints the rounds that were finished, as a table and as
// JSON, says so, and leaves no file.
func TestPeersInterrupted(t *testing.T) {
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
			args := "peers -suite spmm -n 2000 -peer james -case k=1/layout=plain/workers=1 -count 1000000 -slice 1ns -no-limits " + c.args
			stdout, stderr, err := interrupted(t, strings.Fields(args), "spmm: order=", c.signal)
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != cli.Interrupted || !strings.HasSuffix(stderr, "pmbench: peers: interrupted\n") || !strings.Contains(stderr, "ended early; ratios of finished rounds: 1\n") {
				t.Errorf("ended with %v and %q", err, stderr)
			}
			if !strings.Contains(stdout, c.words) || !strings.Contains(stdout, ownPeer) {
				t.Errorf("%s", stdout)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// interrupted runs the command as a process of its own, and sends it a signal once two
// lines of its messages have had the words: work goes on between them.
func interrupted(t *testing.T, args []string, words string, signal syscall.Signal) (stdout, stderr string, err error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var out bytes.Buffer
	cmd.Stdout = &out
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer guard.Stop()
	lines := bufio.NewReader(messages)
	for seen := 0; seen < 2; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no progress: %v", err)
		}
		if strings.Contains(line, words) {
			seen++
		}
	}
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	return out.String(), string(rest), err
}
