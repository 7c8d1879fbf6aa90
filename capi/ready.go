//go:build cgo

package main

import (
	"fmt"
	"math"
	"runtime"
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

// oneThread is what a new thread may take of it: a stack, and an arena of the C library, which takes one
// for each thread as long as there is room, and leaves none for the stacks of others.
const oneThread = 8<<20 + 64<<20

// otherThreads is how many threads the Go runtime has beside one for each processor.
const otherThreads = 4

// checkAddressSpace refuses to work where the limit of the address space (ulimit -v) leaves no room for
// threads. Where it leaves room for fewer than there are processors, fewer processors are used from now on.
func checkAddressSpace() error {
	left := mem.Unmapped()
	if left < threadBytes {
		return fmt.Errorf("%w: the limit of the address space (ulimit -v) leaves %d MiB, and threads need %d", kernel.ErrMemory, left>>20, threadBytes>>20)
	}
	if left == math.MaxInt64 {
		return nil
	}
	started, _ := runtime.ThreadCreateProfile(nil)
	if most := processorsWithin(left, started); most < runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(most)
	}
	return nil
}

// processorsWithin returns for how many processors the bytes left have room, given the number of threads
// that have started. When all of their threads have started, another call still finds its own room.
func processorsWithin(left int64, started int) int {
	more := max(left-2*threadBytes, 0) / oneThread
	return max(int(min(more, math.MaxInt32))+started-otherThreads, 1)
}
