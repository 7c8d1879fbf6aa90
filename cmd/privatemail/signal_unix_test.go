//go:build unix

package main

import (
	"bufio"
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

// TestSignal runs the command as a process of its own and interrupts it in the
// middle of its work.
func TestSignal(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			args, folder, out := longJob(t)
			cmd := exec.Command(program, args...)
			cmd.Env = append(os.Environ(), asCommand+"=1")
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			guard := time.AfterFunc(15*time.Second, func() { cmd.Process.Kill() })
			defer guard.Stop()
			lines := bufio.NewReader(stderr)
			for line := ""; !strings.Contains(line, "product"); {
				if line, err = lines.ReadString('\n'); err != nil {
					t.Fatalf("no progress: %v", err)
				}
			}
			sent := time.Now()
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(lines)
			if err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			if took := time.Since(sent); took > 5*time.Second {
				t.Errorf("ended %v after the signal", took)
			}
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != cli.Interrupted || !strings.HasSuffix(string(rest), "privatemail: embed: interrupted\n") {
				t.Errorf("ended with %v and %q", err, rest)
			}
			wantUntouched(t, folder, out)
		})
	}
}
