package progress

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// lookTime is how long the slowdown of the machine is measured.
const lookTime = 100 * time.Millisecond

// Slowdown measures how many times longer work of so many workers takes just now than on
// a machine at rest: by the time it takes them, and, where the system tells, by the number
// of threads that want a processor. The larger of the two counts: a short look may be lucky.
func Slowdown(workers int) float64 {
	looks := make([]look, min(max(workers, 1), runtime.GOMAXPROCS(0)))
	var all sync.WaitGroup
	for i := range looks {
		all.Go(func() { looks[i] = lookFor(lookTime) })
	}
	const times = 8
	waiting := 0.0
	for range times {
		time.Sleep(lookTime / (times + 1))
		stat, _ := os.ReadFile("/proc/stat")
		waiting += float64(runningThreads(stat)-1) / times // all but the one that looks
	}
	all.Wait()
	return max(1/shareOf(looks), waiting/float64(runtime.NumCPU()), 1)
}

// runningThreads returns how many threads of all programs run or wait for a processor,
// given the text of /proc/stat; 0 where that does not tell.
func runningThreads(stat []byte) int {
	for line := range bytes.Lines(stat) {
		if message, ok := bytes.CutPrefix(line, []byte("procs_running ")); ok {
			count, _ := strconv.Atoi(string(bytes.TrimSpace(message)))
			return count
		}
	}
	return 0
}

// A look is what one worker saw: how many pieces of work it did within a time, and how
// long the fastest of them took.
type look struct {
	pieces           int
	fastest, elapsed time.Duration
}

// lookFor repeats a piece of work of some microseconds.
func lookFor(d time.Duration) look {
	l := look{fastest: math.MaxInt64}
	sum := 1.0
	for began := time.Now(); l.elapsed < d; l.pieces++ {
		from := time.Now()
		for range 10_000 {
			sum = sum*0.999 + 1
		}
		l.fastest = min(l.fastest, max(time.Since(from), 1))
		l.elapsed = time.Since(began)
	}
	runtime.KeepAlive(sum)
	return l
}

// shareOf is the time all pieces would have taken at the pace of the fastest, over the
// time they took.
func shareOf(looks []look) float64 {
	fastest := time.Duration(math.MaxInt64)
	for _, l := range looks {
		fastest = min(fastest, l.fastest)
	}
	worked, elapsed := 0.0, 0.0
	for _, l := range looks {
		worked += float64(l.pieces) * fastest.Seconds()
		elapsed += l.elapsed.Seconds()
	}
	// Where a worker got next to nothing, the share is small and not zero.
	return min(max(worked/elapsed, 0.01), 1)
}
