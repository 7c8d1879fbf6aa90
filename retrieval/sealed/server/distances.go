package server

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/simd"
)

// centres are the centres of cells. The nearest of a row has the least squared distance as
// simd.Dots64 and simd.DotsToSqDists64 compute it, and the lowest number among equals. These
// have the same bits at every level and for any number of workers.
//
// A cell may have several representatives in place of a centre. Its distance is that of the
// nearest of them.
type centres struct {
	kernels *simd.Kernels
	count   int // of cells
	each    int // representatives of a cell
	d       int
	rows    []float64
	norms   []float64 // squared
}

func newCentres(rows []float32, each, d int, kernels *simd.Kernels) *centres {
	c := &centres{kernels: kernels, count: len(rows) / each / d, each: each, d: d, rows: make([]float64, len(rows))}
	for i, v := range rows {
		c.rows[i] = float64(v)
	}
	for i := range c.count * each {
		c.norms = append(c.norms, squaredNorm(c.rows[i*d:(i+1)*d]))
	}
	return c
}

// distances sets dst to the squared distances of rows from all centres, row after row.
func (c *centres) distances(dst, rows []float64) {
	n, all := len(rows)/c.d, c.count*c.each
	from := dst
	if c.each > 1 {
		from = make([]float64, n*all)
	}
	c.kernels.Dots64(simd.RowsOf(from, all), simd.RowsOf(rows, c.d), simd.RowsOf(c.rows, c.d), n, all, c.d)
	for i := range n {
		c.kernels.DotsToSqDists64(from[i*all:(i+1)*all], squaredNorm(rows[i*c.d:(i+1)*c.d]), c.norms)
	}
	if c.each > 1 {
		for i := range n * c.count {
			dst[i] = slices.Min(from[i*c.each : (i+1)*c.each])
		}
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
