package kernel

// Seconds of one Emerald Rapids core for the elementary operations of this
// package, as its benchmarks show them (bench_test.go): those of csr, pairs, poly, grid and
// blocks of dense at the level avx512, the others in portable code. Those of blocks of dense
// and of poly in float64 were measured on a Cascade Lake core and brought to that scale. They
// rank the operators; nothing else depends on them but where it is said.

// Of dense, csr, pairs and background, and of the searches.
const (
	denseWeightSeconds = 1.3e-9   // one weight in a block of pairs, of its squared distance
	denseDotSeconds    = 0.027e-9 // one coordinate of one pair in a product of blocks
	denseColumnSeconds = 0.1e-9   // adding a pair to both rows, a column
	expSeconds         = 14e-9    // one exponential, with the loop around it
	denseDirectSeconds = 0.6e-9   // one coordinate of one pair in few dimensions
	farSeconds         = 1e-9     // seeing that a pair of a block is farther than a radius
	distanceSeconds    = 0.32e-9  // one coordinate of one pair by itself
	axpySeconds        = 0.7e-9   // one multiply-add of a weight and an entry of x
	entrySeconds       = 1.0e-9   // reading one stored weight and its column
	finishSeconds      = 4e-9     // one entry of the next iterate
	csrEntrySeconds    = 0.53e-9  // csr: reading one stored weight and its column
	csrAxpySeconds     = 0.047e-9 // csr: one multiply-add of a weight and an entry of x
	csrFinishSeconds   = 1e-9     // csr: one entry of the next iterate
	sortSeconds        = 80e-9    // cell list, per point
	storeSeconds       = 6e-9     // fresh memory for one of the weights of all pairs
	weightSeconds      = 5e-9     // one weight of the cell list, stored in fresh memory
	pairRowSeconds     = 75e-9    // pairs: a row, with its share of its cluster
	pairTestSeconds    = 0.19e-9  // testing one candidate, a coordinate
	pairWeightSeconds  = 2.3e-9   // and one weight, with its share of the product
	encodeSeconds      = 15e-9    // one coordinate of one point: what precedes a search by codes
	codeSeconds        = 0.4e-9   // one pair of codes
	foundSeconds       = 80e-9    // one pair that is near: its distance, weight and place
	foundSecondsBy     = 0.3e-9   // and dimension
	treeRowSeconds     = 1.5e-6   // nearest neighbours in few dimensions: a point
	treeSeconds        = 100e-9   // and one of its neighbours, twice as much for each dimension
)

// distanceSecondsIn is the time of a squared distance in a block of pairs.
func distanceSecondsIn(d int) float64 {
	if d <= maxDirect {
		return float64(d) * denseDirectSeconds
	}
	return float64(d) * denseDotSeconds
}

// Of poly: a term of one row in one pass, and preparing a row.
const (
	polyTermSeconds   = 0.05e-9 // of degree 1, float32
	polyHighSeconds   = 0.35e-9 // of degree 2 and more
	polyTerm64Seconds = 0.05e-9 // in float64
	polyRunSeconds    = 5e-9    // a run of terms that differ in one coordinate only
	polyRowSeconds    = 12e-9
	polyLoadSeconds   = 0.4e-9 // reading one coordinate
	polyPairSeconds   = 0.03e-9
	polyFrameSeconds  = 2e-9 // both passes of the plan, a coordinate
)

// Of grid. Its cells and nodes are chosen by them, so they are the same at every level,
// and with them the bits of results.
const (
	gridSortSeconds   = 80e-9  // a point sorted and placed
	gridBasisSeconds  = 0.3e-9 // a number of the basis of a point
	gridSpreadSeconds = 0.1e-9 // a node that a number of x is added to or taken from
	gridSweepSeconds  = 0.1e-9 // a product of a sweep
	gridCellSeconds   = 0.7e-9 // a product of a transfer between two cells
	gridDirectSeconds = 40e-9  // a direct weight, stored twice
	gridBoxSeconds    = 40e-9  // distances of a row and a cell
	gridRowSeconds    = 30e-9  // a number of the next iterate
)
