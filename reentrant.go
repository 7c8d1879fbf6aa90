package privatemail

import (
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/goroutine"
)

// progressCalls know which goroutines are inside the progress function. The workers call
// it, so a method of the Engine that it calls would wait for the very work that waits for
// it.
type progressCalls struct {
	mu     sync.Mutex
	inside map[uintptr]int // calls of each goroutine
}

// begin notes that this goroutine calls the progress function, until the function that it
// returns is called.
func (p *progressCalls) begin() (end func()) {
	id := goroutine.ID()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inside == nil {
		p.inside = map[uintptr]int{}
	}
	p.inside[id]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.inside[id]--; p.inside[id] == 0 {
			delete(p.inside, id)
		}
	}
}

// here tells whether this goroutine is inside the progress function.
func (p *progressCalls) here() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.inside) > 0 && p.inside[goroutine.ID()] > 0
}
