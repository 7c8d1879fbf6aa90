package mem

import (
	"runtime"
	"runtime/metrics"
)

// A garbage collection is worthwhile for at least this many bytes and this share of the heap:
// filling that many bytes takes longer than scanning a heap of a few large arrays, and a heap
// of many small objects is only scanned for a large gain.
const (
	reclaimed      = 16 << 20
	reclaimedShare = 8
)

// Reclaim collects the given number of bytes of memory that was just released, so that it
// can be reused. Without it Go lets the heap grow to twice the memory in use before it
// collects, so that new memory is added to garbage. Less than 16 MiB, or than an eighth of
// the heap, is left to Go.
func Reclaim(bytes int64) {
	if bytes >= reclaimed && bytes >= heapBytes()/reclaimedShare {
		runtime.GC()
	}
}

// roomBytes is the least number of bytes for which MakeRoom collects: a collection then
// takes a small part of the time in which they are filled and used.
const roomBytes = 1 << 20

// MakeRoom collects garbage before the given number of bytes is allocated. Without it they
// would be added to the garbage until Go collects. A heap of more than eight times as many
// bytes, and less than 1 MiB, are left to Go.
func MakeRoom(bytes int64) {
	if bytes >= roomBytes && bytes >= heapBytes()/reclaimedShare {
		runtime.GC()
	}
}

// heapBytes returns the bytes of the objects on the heap, in use or not.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
