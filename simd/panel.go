package simd

// A panel has at most panelEntries entries, whose columns and values, 16 KiB,
// stay in the first-level cache, or is one row; and at most panelRows rows.
const (
	panelEntries = 1 << 11
	panelRows    = 1 << 10
)

// panelEnd returns the end of the panel that begins with row lo.
func panelEnd(ptr []uint64, lo int) int {
	most := min(len(ptr)-1, lo+panelRows)
	hi := lo + 1
	for hi < most && ptr[hi+1]-ptr[lo] <= panelEntries {
		hi++
	}
	return hi
}
