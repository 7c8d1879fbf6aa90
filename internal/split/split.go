// Package split says where the pieces of n items, or of the rows of a sparse matrix, begin and end,
// the same for any number of workers and ranks.
package split

// Blocks returns how many blocks of the given size cover n.
func Blocks(n, size int) int { return (n + size - 1) / size }

// Block returns the half-open range of block b of the given size within n.
func Block(b, n, size int) (lo, hi int) { return b * size, min((b+1)*size, n) }

// Part returns the index of the first item of the given part when n items are
// split into about equal parts. Part(n, parts, parts) is n. It multiplies in 64
// bits, so that a 32-bit int does not overflow.
func Part(n, part, parts int) int { return int(int64(n) * int64(part) / int64(parts)) }
