package sparse

import "sort"

// A chunk is the piece of work a worker takes at a time. Chunks depend on the row
// pointers alone. So sums that are kept per chunk and added in the order of the chunks
// have the same bits for any number of workers.
const (
	chunkEntries = 1 << 16 // about 0.5 MiB of matrix: long against a wake-up, short against a run
	chunkRows    = 1 << 12 // so that rows with few entries are shared out too
)

// partition splits the rows into chunks of at most chunkEntries entries and
// chunkRows rows; a longer row is a chunk of its own. Chunk c holds the rows
// bounds[c] to bounds[c+1]-1.
func partition(ptr []uint64) (bounds []int) {
	rows := len(ptr) - 1
	bounds = append(bounds, 0)
	for lo := 0; lo < rows; {
		most := min(rows-lo, chunkRows)
		// The first row whose end lies beyond the limit begins the next chunk.
		n := sort.Search(most, func(i int) bool { return ptr[lo+i+1]-ptr[lo] > chunkEntries })
		lo += max(n, 1)
		bounds = append(bounds, lo)
	}
	return bounds
}

// Split returns the chunks that Adopt makes of the rows with the given row pointers: chunk c
// is rows bounds[c] to bounds[c+1]-1. Ranks that share a matrix make the same ones.
func Split(ptr []uint64) (bounds []int) { return partition(ptr) }

// Chunks returns the number of chunks the rows are split into.
func (a *CSR) Chunks() int { return len(a.parts) }

// Chunk returns the half-open range of rows of chunk c.
func (a *CSR) Chunk(c int) (lo, hi int) { return a.parts[c].lo, a.parts[c].hi }
