package mem

import (
	"math"
	"os"
	"strings"
	"syscall"
)

// addressSpaceLeft returns what the limit of the address space (RLIMIT_AS) leaves. The Go
// runtime maps some hundred MB that it may never touch, and they count. Memory that the Go
// heap has mapped and does not use can be used again.
func addressSpaceLeft() int64 {
	left := unmapped()
	if left == unlimited {
		return unlimited
	}
	return max(left+goBytes("/memory/classes/heap/free:bytes")+goBytes("/memory/classes/heap/released:bytes"), 0)
}

// Unmapped returns what the limit of the address space leaves to map, for threads and whatever else is
// not the Go heap, math.MaxInt64 where there is no limit.
func Unmapped() int64 { return max(unmapped(), 0) }

// unmapped may be below 0 where the limit was lowered since.
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
