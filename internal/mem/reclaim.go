package mem

import (
	"runtime"
	"runtime/metrics"
)

// A collection of its own is worth so many bytes, and a share of the heap: to fill so many
// takes longer than to look at a heap of a few large arrays, and a heap of many small
// objects is looked at for no small gain.
const (
	reclaimed      = 16 << 20
	reclaimedShare = 8
)

// Reclaim makes memory that was given up just now, so many bytes of it, ready to be taken
// again. Without it Go lets the heap grow to twice of what is in use before it looks: what
// comes next would stand beside what nobody needs any more. Less than 16 MiB, or than an
// eighth of the heap, are left to Go.
func Reclaim(bytes int64) {
	if bytes >= reclaimed && bytes >= heapBytes()/reclaimedShare {
		runtime.GC()
	}
}

// roomBytes is the least that room is made for: a collection then takes a small part of the
// time in which so many bytes are filled and used.
const roomBytes = 1 << 20

// MakeRoom collects what nobody needs any more, before so many bytes are taken. Without it
// they would stand beside it, until Go looks. A heap of more than eight times as many bytes,
// and bytes below 1 MiB, are left to Go.
func MakeRoom(bytes int64) {
	if bytes >= roomBytes && bytes >= heapBytes()/reclaimedShare {
		runtime.GC()
	}
}

// heapBytes is what objects of the heap take, in use or not.
func heapBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
