package truncated

// Of csr and pairs, and of the searches.
const (
	csrEntrySeconds   = 0.53e-9  // csr: reading one stored weight and its column
	csrAxpySeconds    = 0.047e-9 // csr: one multiply-add of a weight and an entry of x
	csrFinishSeconds  = 1e-9     // csr: one entry of the next iterate
	sortSeconds       = 80e-9    // cell list, per point
	storeSeconds      = 6e-9     // fresh memory for one of the weights of all pairs
	weightSeconds     = 5e-9     // one weight of the cell list, stored in fresh memory
	pairRowSeconds    = 75e-9    // pairs: a row, with its share of its cluster
	pairTestSeconds   = 0.19e-9  // testing one candidate, a coordinate
	pairWeightSeconds = 2.3e-9   // and one weight, with its share of the product
	encodeSeconds     = 15e-9    // one coordinate of one point: what precedes a search by codes
	codeSeconds       = 0.4e-9   // one pair of codes
	foundSeconds      = 80e-9    // one pair that is near: its distance, weight and place
	foundSecondsBy    = 0.3e-9   // and dimension
	treeRowSeconds    = 1.5e-6   // nearest neighbours in few dimensions: a point
	treeSeconds       = 100e-9   // and one of its neighbours, twice as much for each dimension
)
