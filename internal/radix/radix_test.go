package radix

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/par"
)

func TestRadixSort(t *testing.T) {
	workers := par.New(3)
	defer workers.Close()
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.IntRange(0, 63).Draw(t, "bits")
		keys := rapid.SliceOfN(rapid.Uint64Range(0, 1<<bits-1), 1, 300).Draw(t, "keys")
		order := make([]uint32, len(keys))
		for i := range order {
			order[i] = uint32(i)
		}
		given := slices.Clone(keys)
		workers := workers
		if rapid.Bool().Draw(t, "alone") {
			workers = nil
		}
		sorted, err := Sort(context.Background(), keys, order, bits, workers)
		if err != nil || !slices.IsSorted(sorted) {
			t.Fatalf("%v is not sorted (%v)", sorted, err)
		}
		for i, from := range order {
			if given[from] != sorted[i] || (i > 0 && sorted[i] == sorted[i-1] && order[i-1] > from) {
				t.Fatalf("order %v does not go with %v stably", order, sorted)
			}
		}
	})
}
