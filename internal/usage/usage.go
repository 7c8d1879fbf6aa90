// Package usage counts the calls that read what Close of their owner takes away, such as a
// file that is mapped.
//
//	if !calls.Begin() {
//		return ErrClosed
//	}
//	defer calls.End()
package usage

import "sync"

// Calls are the calls that are running. The zero value counts none and is open. It is safe for
// concurrent use.
type Calls struct {
	mu     sync.Mutex
	idle   *sync.Cond // of mu, for those who close: the last call has ended
	calls  int
	closed bool
}

// Begin counts a call, which End ends. It returns false, and counts nothing, after Close.
func (c *Calls) Begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.calls++
	return true
}

// End ends a call for which Begin has returned true.
func (c *Calls) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls--; c.calls == 0 && c.closed {
		c.idle.Broadcast()
	}
}

// Close refuses calls from now on, and waits for those that are running.
func (c *Calls) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.idle == nil {
		c.idle = sync.NewCond(&c.mu)
	}
	for c.calls > 0 {
		c.idle.Wait()
	}
}
