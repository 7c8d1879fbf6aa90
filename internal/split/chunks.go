package split

import "sort"

// Chunks of rows depend only on the row pointers of a matrix. So sums per chunk, added in the order
// of the chunks, have the same bits for any number of workers.
const (
	ChunkEntries = 1 << 16 // about 0.5 MiB of matrix: long compared with a wake-up, short compared with a run
	ChunkRows    = 1 << 12 // so that rows with few entries are spread over workers too
)

// Chunks splits the rows of a sparse matrix into the pieces of work that a worker takes at a time: at
// most ChunkEntries entries and ChunkRows rows; a longer row is a separate chunk. Chunk c holds the
// rows bounds[c] to bounds[c+1]-1. Ranks that share a matrix make the same ones.
func Chunks(ptr []uint64) (bounds []int) {
	rows := len(ptr) - 1
	bounds = append(bounds, 0)
	for lo := 0; lo < rows; {
		most := min(rows-lo, ChunkRows)
		// The first row whose end lies beyond the limit begins the next chunk.
		n := sort.Search(most, func(i int) bool { return ptr[lo+i+1]-ptr[lo] > ChunkEntries })
		lo += max(n, 1)
		bounds = append(bounds, lo)
	}
	return bounds
}
