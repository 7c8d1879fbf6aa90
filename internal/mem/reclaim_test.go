package mem

import (
	"runtime"
	"testing"
)

// collections returns how often a collection was requested.
func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumForcedGC
}

func TestReclaim(t *testing.T) {
	before := collections()
	Reclaim(reclaimed - 1)
	if got := collections(); got != before {
		t.Errorf("%d collections for little memory", got-before)
	}
	Reclaim(reclaimed)
	if got := collections(); got != before+1 {
		t.Errorf("%d collections for much memory, want 1", got-before)
	}
	heap := make([]byte, reclaimedShare*reclaimed*2)
	Reclaim(reclaimed)
	if got := collections(); got != before+1 {
		t.Errorf("%d more collections for a small part of the heap", got-before-1)
	}
	runtime.KeepAlive(heap)
}

func TestMakeRoom(t *testing.T) {
	runtime.GC() // remove the garbage of other tests from the heap
	before := collections()
	MakeRoom(roomBytes - 1)
	if got := collections(); got != before {
		t.Errorf("%d collections for little room", got-before)
	}
	MakeRoom(heapBytes() + roomBytes)
	if got := collections(); got != before+1 {
		t.Errorf("%d collections for much room, want 1", got-before)
	}
	heap := make([]byte, reclaimedShare*roomBytes*2)
	MakeRoom(roomBytes)
	if got := collections(); got != before+1 {
		t.Errorf("%d more collections for room with a large heap", got-before-1)
	}
	runtime.KeepAlive(heap)
}
