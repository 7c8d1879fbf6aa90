package sparse

import "sort"

// A chunk is the piece of work a worker takes at a time. Chunks depend only on the row
// pointers. So sums per chunk, added in the order of the chunks, have the same bits for
// any number of workers.
const (
	chunkEntries = 1 << 16 // about 0.5 MiB of matrix: long compared with a wake-up, short compared with a run
	chunkRows    = 1 << 12 // so that rows with few entries are spread over workers too
)

// partition splits the rows into chunks of at most chunkEntries entries and
// chunkRows rows; a longer row is a separate chunk. Chunk c holds the rows bounds[c] to
// bounds[c+1]-1.
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
