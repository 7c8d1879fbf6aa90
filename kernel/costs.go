package kernel

// Seconds of one Emerald Rapids core for the elementary operations of this
// package's portable code, as its benchmarks show them (bench_test.go). They
// rank the operators; nothing else depends on them.
const (
	denseExpSeconds = 14e-9   // one exponential, with the loop around it
	distanceSeconds = 0.32e-9 // one coordinate of one pair in a matrix product
	axpySeconds     = 0.7e-9  // one multiply-add of a weight and an entry of x
	entrySeconds    = 1.0e-9  // reading one stored weight and its column
	finishSeconds   = 4e-9    // one entry of the next iterate
	sortSeconds     = 300e-9  // cell list, per point
	cellPairSeconds = 4e-9    // testing one candidate pair, both passes
)
