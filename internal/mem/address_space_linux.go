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
	idle := goBytes("/memory/classes/heap/free:bytes") + goBytes("/memory/classes/heap/released:bytes")
	return max(int64(limit.Cur)-max(mapped*int64(os.Getpagesize())-idle, 0), 0)
}
