//go:build cgo

package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
)

var (
	prepared  atomic.Bool
	preparing sync.Mutex
)

// prepare makes the Go runtime open the two file descriptors that it needs to wait for files and clocks.
// It would open them when it first does so, and end the process where none is free. The first function that
// is called does it, and fails where it cannot be done.
func prepare() error {
	if prepared.Load() {
		return nil
	}
	preparing.Lock()
	defer preparing.Unlock()
	if prepared.Load() {
		return nil
	}
	var free [2]int
	if err := syscall.Pipe(free[:]); err != nil {
		return fmt.Errorf("two file descriptors are needed: %w", err)
	}
	for _, fd := range free {
		if err := syscall.Close(fd); err != nil {
			return err
		}
	}
	time.AfterFunc(time.Hour, func() {}).Stop() // the runtime opens them before the clock runs
	prepared.Store(true)
	return nil
}

// threadBytes is how much address space a call finds free: for stacks of threads, 8 MiB each, and what
// the C library maps for them. The Go runtime ends the process where it cannot have a thread.
const threadBytes = 64 << 20

// checkAddressSpace refuses to work where the limit of the address space (ulimit -v) leaves no room for
// threads.
func checkAddressSpace() error {
	if left := mem.Unmapped(); left < threadBytes {
		return fmt.Errorf("%w: the limit of the address space (ulimit -v) leaves %d MiB, and threads need %d", kernel.ErrMemory, left>>20, threadBytes>>20)
	}
	return nil
}
