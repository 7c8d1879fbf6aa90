package pairwise

// Of dense and background.
const (
	denseColumnSeconds = 0.1e-9 // adding a pair to both rows, a column
	expSeconds         = 14e-9  // one exponential, with the loop around it
	farSeconds         = 1e-9   // seeing that a pair of a block is farther than a radius
	finishSeconds      = 4e-9   // one entry of the next iterate
)
