//go:build cgo

package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// errHandle reports an invalid handle.
var errHandle = errors.New("not a handle of this kind, or one that was freed")

// A registry has the values of handles. A handle is a number that is never used twice,
// so that freed and random handles are detected.
type registry struct {
	mu      sync.Mutex
	last    uintptr
	entries map[uintptr]*entry
}

// An entry is the value of one handle.
type entry struct {
	value any
	users int // functions that are using it
	freed bool
}

var handles = registry{last: firstHandle - 1, entries: map[uintptr]*entry{}}

// firstHandle is above small numbers, which programs may pass by mistake.
const firstHandle = 0x70001

// add returns a new handle for a value.
func (r *registry) add(value any) uintptr {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.entries[r.last] = &entry{value: value}
	return r.last
}

// use returns the value of a handle. The value stays valid until done is called, even if
// another thread frees the handle meanwhile. kind is for the message.
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

// free removes a handle. 0 is allowed. Its value is closed, if it can be, as soon as it is
// unused: free does not wait, since the caller may be a progress function within such a
// use.
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
	e.users++ // this call, so that values are closed in one place
	r.mu.Unlock()
	return r.leave(e)
}
