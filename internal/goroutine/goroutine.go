// Package goroutine gives goroutines numbers.
package goroutine

import (
	"runtime"
	"sync"
)

// lines are buffers for the first line of a stack trace. Without them each trace would
// allocate one.
var lines = sync.Pool{New: func() any { return new([64]byte) }}

// fromTrace returns the number of this goroutine, which Go shows only in stack traces. It
// takes some microseconds.
func fromTrace() (id uintptr) {
	line := lines.Get().(*[64]byte) // "goroutine 18 [running]:"
	defer lines.Put(line)
	const before = len("goroutine ")
	for _, c := range line[min(before, runtime.Stack(line[:], false)):] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uintptr(c-'0')
	}
	return id
}
