//go:build gc && !noasm && !purego && (amd64 || arm64)

package goroutine

// ID returns a number that no other goroutine has as long as this one runs: the address of
// what the Go runtime keeps of it, which is where the assembler has it.
func ID() uintptr { return address() }

func address() uintptr
