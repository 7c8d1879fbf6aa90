//go:build unix

package main

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
)

// TestSignal runs the command as a process of its own and interrupts it in the
// middle of its work, which would take hours.
func TestSignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			args, folder, out := longJob(t)
			_, stderr, err := clitest.Interrupt(t, asCommand, args, "product", 1, signal, time.Minute)
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != cli.Interrupted || !strings.HasSuffix(stderr, "privatemail: embed: interrupted\n") {
				t.Errorf("ended with %v and %q", err, stderr)
			}
			wantUntouched(t, folder, out)
		})
	}
}
