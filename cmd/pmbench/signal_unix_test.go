//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
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
			stdout, stderr, err := clitest.Interrupt(t, asCommand, strings.Fields(args), "spmm: order=", 2, c.signal, 2*time.Minute)
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
