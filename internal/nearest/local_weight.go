package nearest

import "math"

// LocalWeight returns the weight exp(-squared/far) of a neighbour, for a row that is placed by
// its neighbours. far is the squared distance of the last of them, so the scale adapts to the
// place. If it is 0, all neighbours equal the row and have the same weight.
func LocalWeight(squared, far float64) float64 {
	if far == 0 {
		return 1
	}
	return math.Exp(-squared / far)
}
