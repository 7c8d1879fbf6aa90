package base

// Seconds of one Emerald Rapids core for elementary operations, as the benchmarks of package
// kernel show them. Those that several operators have are here, the others are in the file
// costs.go of each operator. Those of csr, pairs, poly, grid and blocks of dense are at the
// level avx512, the others in portable code. Those of blocks of dense and of poly in float64
// were measured on a Cascade Lake core and brought to that scale. They rank the operators;
// nothing else depends on them but where it is said.
const (
	DenseWeightSeconds = 1.3e-9   // one weight in a block of pairs, of its squared distance
	denseDotSeconds    = 0.027e-9 // one coordinate of one pair in a product of blocks
	denseDirectSeconds = 0.6e-9   // one coordinate of one pair in few dimensions
	DistanceSeconds    = 0.32e-9  // one coordinate of one pair by itself
	AxpySeconds        = 0.7e-9   // one multiply-add of a weight and an entry of x
	EntrySeconds       = 1.0e-9   // reading one stored weight and its column
)

// DistanceSecondsIn is the time of a squared distance in a block of pairs.
func DistanceSecondsIn(d int) float64 {
	if d <= MaxDirect {
		return float64(d) * denseDirectSeconds
	}
	return float64(d) * denseDotSeconds
}
