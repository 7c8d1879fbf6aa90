// Package mem estimates how much memory a process may take, so that builders can refuse
// a size before they allocate it, instead of being killed.
package mem

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// Available returns the bytes that this process may still take. This is the least of four
// numbers, if known: what the kernel calls available, what control groups leave (those of
// containers, and MemoryMax= of systemd), what the limit of the address space leaves (ulimit
// -v), and what the Go memory limit (GOMEMLIMIT) leaves in addition to the memory Go already
// holds. If none is known it returns math.MaxInt64. The first two are at most a second old,
// less the memory Go has taken since.
func Available() int64 {
	return min(machine.left(os.DirFS("/"), time.Now(), goHeld()), addressSpaceLeft(), goLeft())
}

var machine remembered

// unlimited is what a missing limit leaves.
const unlimited = math.MaxInt64

// meminfoLeft returns what the kernel calls available in the text of /proc/meminfo.
func meminfoLeft(text []byte) int64 {
	if kib, ok := field(text, "MemAvailable:"); ok && kib <= math.MaxInt64/1024 {
		return kib * 1024
	}
	return unlimited
}

// goLeft returns what the Go memory limit leaves.
func goLeft() int64 {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return unlimited
	}
	return max(limit-goHeld(), 0)
}

// goHeld returns how much of the system's memory Go holds.
func goHeld() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}} // at the same moment
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// goBytes returns one of the sizes that the Go runtime counts.
func goBytes(name string) int64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// DefaultLimit returns how much memory work may take if no limit was set: three quarters of
// the available memory.
func DefaultLimit() int64 { return Available() / 4 * 3 }

// AddressSpace is more bytes than any machine has, for any limit: make panics from
// there on.
const AddressSpace = min(1<<47, math.MaxInt)

// field returns the number after a name at the start of a line. A negative number does not count.
func field(file []byte, name string) (int64, bool) {
	for line := range strings.Lines(string(file)) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == name {
			return number(words[1])
		}
	}
	return 0, false
}

// number reads a number of 0 or more.
func number(text string) (int64, bool) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 {
		return 0, false
	}
	return v, true
}

// Overlap reports whether two slices share memory.
func Overlap[A, B float32 | float64 | int32 | int64](a []A, b []B) bool {
	a0, b0 := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return a0 < b0+uintptr(len(b))*unsafe.Sizeof(B(0)) && b0 < a0+uintptr(len(a))*unsafe.Sizeof(A(0))
}

// Saturate converts a size to an int64, the largest one if it does not fit, so that an
// impossible size does not become small.
func Saturate(v float64) int64 {
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}
