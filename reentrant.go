package privatemail

import (
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/goroutine"
)

// callers records which goroutines are inside the progress function, which the workers
// call, or inside a method.
type callers struct {
	mu     sync.Mutex
	inside map[uintptr]int // calls of each goroutine
}

// begin records that this goroutine is inside, until the returned function is called.
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

// here reports whether this goroutine is inside.
func (c *callers) here() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.inside) > 0 && c.inside[goroutine.ID()] > 0
}

// Reentrant reports whether methods called by this goroutine return ErrReentrant, since they
// would wait for their own caller: the progress function, or a task of the workers, which may
// be shared with another Engine. Check it before another goroutine calls a method while this
// one waits: the Engine cannot see who waits.
func (e *Engine) Reentrant() bool { return e.reporting.here() || e.workers.InTask() }
