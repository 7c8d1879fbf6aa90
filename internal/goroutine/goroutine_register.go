//go:build gc && !noasm && !purego && (amd64 || arm64)

package goroutine

// ID returns a number that no other goroutine has while this one runs: the address of its
// record in the Go runtime, which is in a place that assembly can read.
func ID() uintptr { return address() }

func address() uintptr
