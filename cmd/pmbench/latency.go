package main

import (
	"context"
	"runtime"
)

// latency adds to a record what matters where somebody waits for each operation: the
// time that one in a hundred exceeds, and the memory that one takes from the heap.
func (t *trial) latency(ctx context.Context, r *Record, seconds []float64) error {
	if !t.sub.latency {
		return nil
	}
	r.SecondsP99 = finite(quantile(seconds, 0.99))
	const count = 5
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range count {
		if err := t.sub.run(ctx); err != nil {
			return err
		}
	}
	runtime.ReadMemStats(&after)
	r.HeapBytes = finite(float64(after.TotalAlloc-before.TotalAlloc) / count)
	return nil
}
