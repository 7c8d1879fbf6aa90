package goroutine

import (
	"sync"
	"testing"
)

// deep calls f with a stack so large that the runtime has to move it.
func deep(depth int, f func()) byte {
	var frame [1024]byte
	if depth == 0 {
		f()
		return frame[0]
	}
	frame[depth%len(frame)] = deep(depth-1, f)
	return frame[0]
}

// Goroutines that run at the same time have different numbers, and each keeps its
// number when its stack moves.
func TestNumbersTellGoroutinesApart(t *testing.T) {
	for name, id := range map[string]func() uintptr{"ID": ID, "trace": fromTrace} {
		const many = 200
		var all, known sync.WaitGroup
		known.Add(many)
		numbers := make([]uintptr, many)
		for i := range many {
			all.Go(func() {
				numbers[i] = id()
				known.Done()
				known.Wait() // all of them run
				deep(300, func() {
					if again := id(); again != numbers[i] {
						t.Errorf("%s: goroutine %d has been %d", name, again, numbers[i])
					}
				})
			})
		}
		all.Wait()
		seen := map[uintptr]bool{0: true}
		for _, n := range numbers {
			if seen[n] {
				t.Fatalf("%s: two goroutines are %d, or it is 0", name, n)
			}
			seen[n] = true
		}
	}
}

// ID allocates nothing, since workers call it often.
func TestNumbersAllocateNothing(t *testing.T) {
	for name, id := range map[string]func() uintptr{"ID": ID, "trace": fromTrace} {
		if n := testing.AllocsPerRun(100, func() { id() }); n > 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}
