package grid

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
