package privatemail

import (
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/goroutine"
)

// callers know which goroutines are inside something: inside the progress function, which
// the workers call, or inside a method.
type callers struct {
	mu     sync.Mutex
	inside map[uintptr]int // calls of each goroutine
}

// begin notes that this goroutine goes inside, until the function that it returns is called.
func (c *callers) begin() (end func()) {
	id := goroutine.ID()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inside == nil {
		c.inside = map[uintptr]int{}
	}
	c.inside[id]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.inside[id]--; c.inside[id] == 0 {
			delete(c.inside, id)
		}
	}
}

// here tells whether this goroutine is inside.
func (c *callers) here() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.inside) > 0 && c.inside[goroutine.ID()] > 0
}

// Reentrant tells whether methods that this goroutine calls return ErrReentrant, since they
// would wait for their own caller: for the progress function, or for a task of the workers,
// which may be those of another Engine. Whoever has another goroutine call a method, and waits
// for it, asks first: the Engine cannot tell who waits.
func (e *Engine) Reentrant() bool { return e.reporting.here() || e.workers.InTask() }
