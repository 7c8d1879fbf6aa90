package mem

import (
	"math"
	"os"
	"strings"
	"syscall"
)

// addressSpaceLeft returns what the limit of the address space (RLIMIT_AS) leaves. The Go
// runtime maps some hundred MB that it may never touch, and they count. Memory that the Go
// heap has mapped but does not use can be reused.
func addressSpaceLeft() int64 {
	left := unmapped()
	if left == unlimited {
		return unlimited
	}
	return max(left+goBytes("/memory/classes/heap/free:bytes")+goBytes("/memory/classes/heap/released:bytes"), 0)
}

// Unmapped returns how much the limit of the address space leaves for mappings outside of the
// Go heap, such as threads, and math.MaxInt64 if there is no limit.
func Unmapped() int64 { return max(unmapped(), 0) }

// unmapped may be below 0 if the limit was lowered later.
func unmapped() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur > math.MaxInt64 {
		return unlimited
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return int64(limit.Cur)
	}
	pages, _, _ := strings.Cut(string(statm), " ")
	mapped, _ := number(pages)
	return int64(limit.Cur) - mapped*int64(os.Getpagesize())
}
