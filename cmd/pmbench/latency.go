package main

import (
	"context"
	"fmt"
	"io"
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

// writeLatency prints a line for each case whose latency was measured.
func writeLatency(w io.Writer, all []summary) error {
	for _, s := range all {
		if s.SecondsP99 == nil || s.HeapBytes == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: p50 %s, p99 %s, %.0f bytes of the heap for each\n", s.Case, duration(s.Seconds), duration(*s.SecondsP99), *s.HeapBytes); err != nil {
			return err
		}
	}
	return nil
}
