package disk

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// ErrLost reports that bytes of a mapped file could not be read: the file was truncated, or
// its disk fails.
var ErrLost = errors.New("a part of a mapped file is gone: it was truncated, or its disk fails")

// Faults turns a read of lost mapped bytes, which would end the process, into ErrLost. It works
// for this goroutine, until the returned function is called:
//
//	defer disk.Faults(&err)()
func Faults(err *error) (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		thrown := recover()
		if IsFault(thrown) {
			*err = ErrLost
		} else if thrown != nil {
			panic(thrown)
		}
	}
}

// IsFault reports whether a panic value is a read of lost memory.
func IsFault(thrown any) bool {
	e, ok := thrown.(runtime.Error)
	if !ok {
		return false
	}
	_, ok = e.(interface{ Addr() uintptr })
	return ok
}
