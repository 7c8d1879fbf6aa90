//go:build !gc || noasm || purego || (!amd64 && !arm64)

package goroutine

// ID returns a number that no other goroutine has while this one runs.
func ID() uintptr { return fromTrace() }
