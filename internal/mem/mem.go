// Package mem tells how much memory a process may take, so that builders can refuse a
// size before they allocate it instead of being killed for it.
package mem

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"unsafe"
)

// Available returns the bytes that this process may still take: the least of what the
// kernel calls available, what the control group of a container leaves, and what the Go
// memory limit (GOMEMLIMIT) leaves beside the memory Go holds already, as far as each
// is known. Where none is known it returns math.MaxInt64.
func Available() int64 {
	least := int64(math.MaxInt64)
	if f, err := os.ReadFile("/proc/meminfo"); err == nil {
		if kib, ok := field(f, "MemAvailable:"); ok && kib <= math.MaxInt64/1024 {
			least = min(least, kib*1024)
		}
	}
	if limit, ok := readNumber("/sys/fs/cgroup/memory.max"); ok {
		if used, ok := readNumber("/sys/fs/cgroup/memory.current"); ok {
			// Pages of files that nobody is using count as used but make way.
			if stat, err := os.ReadFile("/sys/fs/cgroup/memory.stat"); err == nil {
				idle, _ := field(stat, "inactive_file")
				used -= idle
			}
			least = min(least, max(limit-used, 0))
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(held)
		least = min(least, max(limit-int64(held[0].Value.Uint64()-held[1].Value.Uint64()), 0))
	}
	return least
}

// Budget returns what work may take when nobody has set a limit: three quarters
// of what is available.
func Budget() int64 { return Available() / 4 * 3 }

// AddressSpace is more bytes than any machine has, whatever budget it is given: from
// there on make panics.
const AddressSpace = min(1<<47, math.MaxInt)

// field returns the number behind a name at the start of a line.
func field(file []byte, name string) (int64, bool) {
	for line := range strings.Lines(string(file)) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == name {
			v, err := strconv.ParseInt(words[1], 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

func readNumber(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64) // "max" is no number: no limit
	return v, err == nil
}

// Overlap tells whether two slices share memory.
func Overlap[T float32 | float64](a, b []T) bool {
	var t T
	size := unsafe.Sizeof(t)
	a0, b0 := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return a0 < b0+uintptr(len(b))*size && b0 < a0+uintptr(len(a))*size
}

// Saturate converts a size to an int64, the largest where it does not fit: an
// impossible size must not come out small.
func Saturate(v float64) int64 {
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}
