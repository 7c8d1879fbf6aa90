// Package mem answers how much memory there is to take, so that builders can
// refuse a size before they allocate it instead of being killed for it.
package mem

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Available returns the bytes there are for this process to take: the least of
// what the kernel calls available, what the control group of a container
// leaves, and what the Go memory limit (GOMEMLIMIT) leaves beside the memory
// Go holds already, as far as each is known. Where none is known it returns
// math.MaxInt64.
func Available() int64 {
	least := int64(math.MaxInt64)
	if f, err := os.ReadFile("/proc/meminfo"); err == nil {
		if v, ok := meminfoAvailable(f); ok {
			least = min(least, v)
		}
	}
	if limit, ok := readNumber("/sys/fs/cgroup/memory.max"); ok {
		if used, ok := readNumber("/sys/fs/cgroup/memory.current"); ok {
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

// meminfoAvailable returns the MemAvailable line of /proc/meminfo in bytes.
func meminfoAvailable(meminfo []byte) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(meminfo))
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		return kib * 1024, err == nil && kib <= math.MaxInt64/1024
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
