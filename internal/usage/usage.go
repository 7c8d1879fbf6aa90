// Package usage counts the calls that read something that Close of their owner releases,
// such as a mapped file.
//
//	if !calls.Begin() {
//		return ErrClosed
//	}
//	defer calls.End()
package usage

import "sync"

// Calls counts running calls. The zero value has none and is open. It is safe for concurrent
// use.
type Calls struct {
	mu     sync.Mutex
	idle   *sync.Cond // of mu, for Close: the last call has ended
	calls  int
	closed bool
}

// Begin counts a call until End. After Close it returns false and counts nothing.
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

// Close refuses new calls, and waits for the running ones.
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
