package measure

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// counters count the instructions of all threads of this process.
type counters struct{ files []int }

// openCounters starts counting, with an error where the machine or its guest
// has no counters or does not let us use them.
func openCounters() (*counters, error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	c := new(counters)
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		fd, err := unix.PerfEventOpen(&attr, id, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err == unix.ESRCH {
			continue // the thread has ended
		}
		if err != nil {
			c.close()
			return nil, fmt.Errorf("perf_event_open: %w", err)
		}
		c.files = append(c.files, fd)
	}
	return c, nil
}

// read returns the instructions since openCounters.
func (c *counters) read() float64 {
	sum := 0.0
	var word [8]byte
	for _, fd := range c.files {
		if n, err := unix.Read(fd, word[:]); err == nil && n == len(word) {
			sum += float64(binary.NativeEndian.Uint64(word[:]))
		}
	}
	return sum
}

func (c *counters) close() {
	for _, fd := range c.files {
		unix.Close(fd)
	}
}

// resetPeak restarts the counting of the largest resident memory and returns
// what is resident now.
func resetPeak() int64 {
	// Without the right to do so the peak is that of the whole process.
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	return statusBytes("VmRSS:")
}

// peakMemory returns the largest resident memory since resetPeak.
func peakMemory() int64 { return statusBytes("VmHWM:") }

func statusBytes(name string) int64 {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == name {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// readProcessors returns how long the processors have worked since the machine started, and how
// long their host has kept them waiting.
func readProcessors() processorTimes {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return unknownTimes
	}
	return parseProcessors(string(b))
}

// parseProcessors reads the first line of /proc/stat: cpu user nice system idle iowait irq softirq
// steal, and what is part of these.
func parseProcessors(text string) (t processorTimes) {
	line, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(line)
	const idle, iowait, steal = 4, 5, 8
	if len(words) <= steal || words[0] != "cpu" {
		return unknownTimes
	}
	for i, word := range words[:steal+1] {
		if i == 0 {
			continue
		}
		n, err := strconv.ParseUint(word, 10, 63)
		switch {
		case err != nil:
			return unknownTimes
		case i == steal:
			t.stolen = float64(n)
		case i != idle && i != iowait:
			t.worked += float64(n)
		}
	}
	return t
}
