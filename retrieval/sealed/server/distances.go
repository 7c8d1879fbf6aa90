package server

import (
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// centres are the centres of cells. The nearest of a row has the least squared distance as
// simd.Dots64 and simd.DotsToSqDists64 compute it, and the lowest number among equals. These
// have the same bits at every level and for any number of workers.
type centres struct {
	kernels *simd.Kernels
	count   int
	d       int
	rows    []float64
	norms   []float64 // squared
}

func newCentres(rows []float32, d int, kernels *simd.Kernels) *centres {
	c := &centres{kernels: kernels, count: len(rows) / d, d: d, rows: make([]float64, len(rows))}
	for i, v := range rows {
		c.rows[i] = float64(v)
	}
	for i := range c.count {
		c.norms = append(c.norms, squaredNorm(c.rows[i*d:(i+1)*d]))
	}
	return c
}

// distances sets dst to the squared distances of rows from all centres, row after row.
func (c *centres) distances(dst, rows []float64) {
	n := len(rows) / c.d
	c.kernels.Dots64(simd.RowsOf(dst, c.count), simd.RowsOf(rows, c.d), simd.RowsOf(c.rows, c.d), n, c.count, c.d)
	for i := range n {
		c.kernels.DotsToSqDists64(dst[i*c.count:(i+1)*c.count], squaredNorm(rows[i*c.d:(i+1)*c.d]), c.norms)
	}
}

func squaredNorm(row []float64) (sum float64) {
	for _, v := range row {
		sum += float64(v * v) // the conversion forbids a fused product: same bits everywhere
	}
	return sum
}

// nearest sets near to the numbers of the centres with the least distances, rising, of those
// that have room, the lower number first among equals. It returns how many there are, at most
// len(near). room is nil where all have.
func nearest(near []uint32, distances []float64, room []int) int {
	found := 0
	for c, v := range distances {
		if room != nil && room[c] == 0 || found == len(near) && v >= distances[near[found-1]] {
			continue
		}
		at := min(found, len(near)-1)
		for ; at > 0 && v < distances[near[at-1]]; at-- {
			near[at] = near[at-1]
		}
		near[at] = uint32(c)
		found = min(found+1, len(near))
	}
	return found
}
