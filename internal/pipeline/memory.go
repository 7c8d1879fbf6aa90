package pipeline

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Reserve sets own bytes of a limit aside for what and returns the rest, or a
// *kernel.MemoryError where nothing would be left. own is a float64 so that
// products of unchecked sizes do not wrap round.
func Reserve(limit int64, own float64, what string) (rest int64, err error) {
	limit = min(limit, mem.AddressSpace)
	if own >= float64(limit) {
		return 0, &kernel.MemoryError{What: what, Need: int64(min(own, math.MaxInt64/2)), Limit: limit}
	}
	return limit - int64(own), nil
}

// LabelBytes is the memory that labels, which may be nil, add to steps of n rows
// and k columns: the class sums, of each chunk and of all together, and the labels
// themselves.
func LabelBytes(n, k int, labels *kernel.Labels) float64 {
	if labels == nil {
		return 0
	}
	return float64(n)*float64(k)*8 + 4*8*float64(k)*float64(labels.Classes()) + float64(labels.Bytes())
}
