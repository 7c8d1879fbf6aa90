package scheme

import "math"

const (
	// roundingTau is the parameter of what that rounding adds, which is at most half of
	// 2^DroppedBits in size and 0 in the mean.
	roundingTau = 1 << DroppedBits / 2
	// wrapDeviations is how many parameters of its error a score stays away from wrapping.
	wrapDeviations = 12
	// boundDeviations is how many parameters of its error ScoreError allows a score.
	boundDeviations = 10
)

// ProbeTau is the sub-Gaussian parameter of an entry of a probe: the table and the rounding.
var ProbeTau = math.Sqrt(Tau*Tau + roundingTau*roundingTau)

// Kappa returns the scale of a query of unit length: the largest one for which it is proved that no
// score of an epoch wraps, up to a chance of 2 exp(-72) a score. maxNorm is the largest squared norm of a stored
// row, in an epoch of cells of the given dimension. It is 0 where there is none. All machines
// return the same.
func Kappa(maxNorm int64, cells, dimension int) uint32 {
	if maxNorm < 1 {
		return 0
	}
	longest := math.Sqrt(float64(maxNorm))
	room := math.MaxInt32 - entriesError(wrapDeviations, maxNorm, cells) - queryError(maxNorm, dimension)
	return uint32(max(0, math.Floor(min(room/longest, math.MaxInt32))))
}

// ScoreError returns how far a score may be off, before it is divided by Kappa: a score is
// farther off with a chance of 2 exp(-50), 4e-22, at the most. The numbers are those of Kappa.
func ScoreError(maxNorm int64, cells, dimension int) float64 {
	return entriesError(boundDeviations, maxNorm, cells) + queryError(maxNorm, dimension)
}

// entriesError bounds what the errors of the entries of a ciphertext add to a score, at that many
// times its parameter: a row of the matrix of the server has a stored row in each cell.
func entriesError(deviations float64, maxNorm int64, cells int) float64 {
	// The conversion forbids a fused product in the caller: same bits everywhere.
	return float64(deviations * ProbeTau * math.Sqrt(float64(maxNorm)*float64(cells)))
}

// queryError bounds what rounding the entries of a scaled query to whole numbers adds.
func queryError(maxNorm int64, dimension int) float64 {
	return float64(math.Sqrt(float64(maxNorm)*float64(dimension)) / 2)
}
