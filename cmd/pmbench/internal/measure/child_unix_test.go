//go:build unix

package measure

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// A peer ends when a signal ends the run, in the middle of a round that it would go on with.
func TestPeerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := StartChild(ctx, []string{"/bin/sh", "-c", `echo '{"version": "1"}'; while :; do sleep 1000; done`}, "data")
	if err != nil || c.Version() != "1" {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	if seconds, err := c.Round(1, 1, 1, ""); err == nil {
		t.Errorf("a round of %v", seconds)
	}
	if status, ok := c.process.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("the peer ended with %v", c.process.ProcessState)
	}
}
