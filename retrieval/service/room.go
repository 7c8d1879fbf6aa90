package service

import (
	"errors"
	"io"
	"sync"
)

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

// take takes space for somebody who has some already, or returns false where there is not
// enough. Where nobody else has any, there is always enough.
func (r *room) take(has, bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken > has && bytes > r.most-r.taken {
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

var errNoRoom = errors.New("no room for a body")

// A bodyInRoom takes room for what is read of it. A length that was announced takes none: whoever
// announces much and sends little keeps nobody out.
type bodyInRoom struct {
	io.ReadCloser
	room    *room
	has     int64
	refused bool // there was no room
}

// Read implements io.Reader.
func (b *bodyInRoom) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.refused || !b.room.take(b.has, int64(n)) {
		b.refused = true
		return 0, errNoRoom
	}
	b.has += int64(n)
	return n, err
}

// leave gives back all room.
func (b *bodyInRoom) leave() { b.room.give(b.has) }
