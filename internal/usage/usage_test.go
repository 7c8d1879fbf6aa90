package usage

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Close waits for calls that have begun, and none begins afterwards, even with several calls of
// Close.
func TestClose(t *testing.T) {
	var c Calls
	if first, second := c.Begin(), c.Begin(); !first || !second {
		t.Fatal("a call was refused")
	}
	c.End()
	var ended atomic.Bool
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() {
			c.Close()
			if !ended.Load() {
				t.Error("Close did not wait")
			}
		})
	}
	for c.Begin() { // until one has begun to close
		c.End()
	}
	ended.Store(true)
	c.End()
	closing.Wait()
	if c.Close(); c.Begin() {
		t.Error("a call began after Close")
	}
}
