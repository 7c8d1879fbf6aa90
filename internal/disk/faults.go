package disk

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// ErrLost reports that bytes of a mapped file could not be read: somebody has truncated the
// file, or its disk fails.
var ErrLost = errors.New("a part of a mapped file is gone: it was truncated, or its disk fails")

// Faults makes ErrLost of a read of mapped bytes that are gone, which would end the process. It is
// for this goroutine, until the function that it returns is called:
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

// IsFault tells whether what was thrown is a read of memory that is gone.
func IsFault(thrown any) bool {
	e, ok := thrown.(runtime.Error)
	if !ok {
		return false
	}
	_, ok = e.(interface{ Addr() uintptr })
	return ok
}
