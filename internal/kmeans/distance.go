package kmeans

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/sametime"
)

// SquaredDistance returns |a - b|^2 in float64, summed from the first coordinate to the
// last. b must have the length of a.
func SquaredDistance[T float32 | float64](a []float64, b []T) (sum float64) {
	b = b[:len(a)]
	for j, v := range a {
		e := v - float64(b[j])
		sum += float64(e * e) // the conversion prevents fusing: same bits everywhere
	}
	return sum
}

// Nearest returns the number of the centre nearest to a row, the lowest among equals. Centres
// are stored one after the other, each as long as the row. The row may be private: no branch
// and no index depends on it.
func Nearest(row []float64, centres []float32) int {
	best, least := uint32(0), math.Float64bits(math.Inf(1))
	for c := range len(centres) / len(row) {
		squared := math.Float64bits(SquaredDistance(row, centres[c*len(row):(c+1)*len(row)]))
		below := sametime.Less(squared, least)
		best, least = sametime.Choose(uint32(below), uint32(c), best), sametime.Choose(below, squared, least)
	}
	return int(best)
}
