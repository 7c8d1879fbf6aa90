//go:build cgo

package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// errHandle reports a handle that is none.
var errHandle = errors.New("not a handle of this kind, or one that was freed")

// A registry knows what handles stand for. A handle is a number that is never given out
// twice, so that one which was freed, or which is garbage, is found out.
type registry struct {
	mu      sync.Mutex
	last    uintptr
	entries map[uintptr]*entry
}

// An entry is what one handle stands for.
type entry struct {
	value any
	users int // functions that run with it
	freed bool
}

var handles = registry{last: firstHandle - 1, entries: map[uintptr]*entry{}}

// firstHandle is above small numbers, which are what a program passes by mistake.
const firstHandle = 0x70001

// add returns a new handle for a value.
func (r *registry) add(value any) uintptr {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.entries[r.last] = &entry{value: value}
	return r.last
}

// use returns what a handle stands for. The value stays as it is until done is called, even
// where another thread frees the handle meanwhile. kind is for the message.
func use[T any](r *registry, id uintptr, kind string) (value T, done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	if e == nil {
		return value, nil, fmt.Errorf("%s: %w", kind, errHandle)
	}
	value, ok := e.value.(T)
	if !ok {
		return value, nil, fmt.Errorf("%s: %w", kind, errHandle)
	}
	e.users++
	return value, func() { _ = r.leave(e) }, nil
}

// leave ends a use. The last one of a freed handle closes the value.
func (r *registry) leave(e *entry) error {
	r.mu.Lock()
	e.users--
	last := e.users == 0 && e.freed
	r.mu.Unlock()
	if c, ok := e.value.(io.Closer); ok && last {
		return c.Close()
	}
	return nil
}

// free forgets a handle. 0 is allowed. Its value is closed, where it can be, as soon as
// nobody uses it: free does not wait, since the caller may be a progress function that runs
// within such a use.
func free[T any](r *registry, id uintptr, kind string) error {
	if id == 0 {
		return nil
	}
	r.mu.Lock()
	e := r.entries[id]
	if e == nil {
		r.mu.Unlock()
		return fmt.Errorf("%s: %w", kind, errHandle)
	}
	if _, ok := e.value.(T); !ok {
		r.mu.Unlock()
		return fmt.Errorf("%s: %w", kind, errHandle)
	}
	delete(r.entries, id)
	e.freed = true
	e.users++ // this call, so that there is one way to close a value
	r.mu.Unlock()
	return r.leave(e)
}
