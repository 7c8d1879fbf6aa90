package nearest

import "math"

// LocalWeight returns the weight exp(-squared/far) of a neighbour for a row that takes its place
// from neighbours. far is the squared distance of the last of them, so the scale follows the
// place. Where it is 0 all neighbours are equal to the row and count alike.
func LocalWeight(squared, far float64) float64 {
	if far == 0 {
		return 1
	}
	return math.Exp(-squared / far)
}
