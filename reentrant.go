package privatemail

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// progressCalls know which goroutines are inside the progress function. The workers call
// it, so a method of the Engine that it calls would wait for the very work that waits for
// it.
type progressCalls struct {
	mu     sync.Mutex
	inside map[uint64]int // calls of each goroutine
}

// begin notes that this goroutine calls the progress function, until the function that it
// returns is called.
func (p *progressCalls) begin() (end func()) {
	id := goroutine()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inside == nil {
		p.inside = map[uint64]int{}
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
	return len(p.inside) > 0 && p.inside[goroutine()] > 0
}

// goroutine returns the number of this goroutine, which Go tells in stack traces alone. A
// test notices if their first line ever changes.
func goroutine() uint64 {
	var line [64]byte // "goroutine 18 [running]:"
	_, rest, _ := bytes.Cut(line[:runtime.Stack(line[:], false)], []byte(" "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	id, _ := strconv.ParseUint(string(number), 10, 64)
	return id
}
