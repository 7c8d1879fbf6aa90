package measure

import (
	"context"
	"runtime"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// latency adds to a record what matters where somebody waits for each operation: the
// time that one in a hundred exceeds, and the memory that one takes from the heap.
func (t *trial) latency(ctx context.Context, r *record.Record, seconds []float64) error {
	if !t.sub.Latency {
		return nil
	}
	r.SecondsP99 = figures.Finite(figures.Quantile(seconds, 0.99))
	const count = 5
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range count {
		if err := t.sub.Run(ctx); err != nil {
			return err
		}
	}
	runtime.ReadMemStats(&after)
	r.HeapBytes = figures.Finite(float64(after.TotalAlloc-before.TotalAlloc) / count)
	return nil
}
