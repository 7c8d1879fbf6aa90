package mem

import (
	"runtime"
	"testing"
)

func TestReclaim(t *testing.T) {
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
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
