package kernel

// Seconds of one Emerald Rapids core for the elementary operations of this
// package, as its benchmarks show them (bench_test.go): those of csr at the
// level avx512, the others in portable code. They rank the operators; nothing
// else depends on them.
const (
	denseExpSeconds   = 14e-9   // one exponential, with the loop around it
	distanceSeconds   = 0.32e-9 // one coordinate of one pair in a matrix product
	axpySeconds       = 0.7e-9  // one multiply-add of a weight and an entry of x
	entrySeconds      = 1.0e-9  // reading one stored weight and its column
	finishSeconds     = 4e-9    // one entry of the next iterate
	csrEntrySeconds   = 0.53e-9 // the same three of csr
	csrAxpySeconds    = 0.047e-9
	csrFinishSeconds  = 1e-9
	sortSeconds       = 80e-9   // cell list, per point
	storeSeconds      = 6e-9    // fresh memory for one of the weights of all pairs
	weightSeconds     = 5e-9    // one weight of the cell list, stored in fresh memory
	pairRowSeconds    = 75e-9   // pairs: a row, with its share of its cluster
	pairTestSeconds   = 0.19e-9 // testing one candidate, a coordinate
	pairWeightSeconds = 2.3e-9  // and one weight, with its share of the product
	encodeSeconds     = 15e-9   // one coordinate of one point: what precedes a search by codes
	codeSeconds       = 0.4e-9  // one pair of codes
	foundSeconds      = 80e-9   // one pair that is near: its distance, weight and place
	foundSecondsBy    = 0.3e-9  // and dimension
)
