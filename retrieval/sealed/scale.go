package sealed

import "math"

// The errors of a ciphertext. The law of an entry is sub-Gaussian: the chance that a sum of
// entries with weights w is beyond t tau |w| is at most 2 exp(-t^2/2).
const (
	// Deviation is the standard deviation of the Gaussian that the table of errors rounds.
	Deviation = 6.4
	// Tau is the sub-Gaussian parameter of the table.
	Tau = 6.4066
	// DroppedBits are the lower bits of a word of a probe that are rounded away.
	DroppedBits = 8
	// roundingTau is the parameter of what that rounding adds, uniform on an interval of
	// 2^DroppedBits.
	roundingTau = 1 << DroppedBits / 2
)

// ProbeTau is the sub-Gaussian parameter of an entry of a probe: the table and the rounding.
var ProbeTau = math.Sqrt(Tau*Tau + roundingTau*roundingTau)

// Kappa returns the largest scale of a query of unit length under which no score of an epoch
// wraps, up to a chance of 2 exp(-72) a score. maxNorm is the largest squared norm of a stored
// row, in an epoch of cells of the given dimension. It is 0 where there is none.
func Kappa(maxNorm int64, cells, dimension int) uint32 {
	longest := math.Sqrt(float64(maxNorm))
	room := math.MaxInt32 - 12*ProbeTau*longest*math.Sqrt(float64(cells)) - longest*math.Sqrt(float64(dimension))/2
	return uint32(max(0, math.Floor(min(room/longest, math.MaxInt32))))
}
