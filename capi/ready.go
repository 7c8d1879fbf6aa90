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

// prepare makes the Go runtime open the two file descriptors that it needs to wait for files
// and clocks. Otherwise it would open them at its first wait, and end the process if none is
// free. The first function called runs prepare, and fails if it does.
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
	time.AfterFunc(time.Hour, func() {}).Stop() // the runtime opens them before it starts the timer
	prepared.Store(true)
	return nil
}

// threadBytes is how much free address space a call needs: for stacks of threads, 8 MiB each,
// and for the mappings of the C library for them. The Go runtime ends the process if it cannot
// create a thread.
const threadBytes = 64 << 20

// oneThread is how much of it a new thread may take: a stack, and an arena of the C library,
// which takes one for each thread while there is room, and leaves none for the stacks of
// others.
const oneThread = 8<<20 + 64<<20

// otherThreads is how many threads the Go runtime has in addition to one for each processor.
const otherThreads = 4

// checkAddressSpace returns an error if the limit of the address space (ulimit -v) leaves no
// room for threads. If it leaves room for fewer threads than there are processors, fewer
// processors are used from then on.
func checkAddressSpace() error {
	left := mem.Unmapped()
	if left < threadBytes {
		return fmt.Errorf("%w: the limit of the address space (ulimit -v) leaves %d MiB, but threads need %d", kernel.ErrMemory, left>>20, threadBytes>>20)
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

// processorsWithin returns for how many processors the bytes left suffice, given the number of
// started threads. After all their threads have started, there is still room for another call.
func processorsWithin(left int64, started int) int {
	more := max(left-2*threadBytes, 0) / oneThread
	return max(int(min(more, math.MaxInt32))+started-otherThreads, 1)
}
