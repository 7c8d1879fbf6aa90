package service

import "sync"

// enter takes one of the slots, or returns false where none is left. leave follows it.
func enter(slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// leave gives a slot back.
func leave(slots chan struct{}) { <-slots }

// A room has space for bodies of requests, in bytes.
type room struct {
	most int64

	mu    sync.Mutex
	taken int64
}

// take takes space, or returns false where there is not enough of it. Where nobody has any,
// there is always enough. give follows it.
func (r *room) take(bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken > 0 && bytes > r.most-r.taken {
		return false
	}
	r.taken += bytes
	return true
}

// give gives space back.
func (r *room) give(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken -= bytes
}
