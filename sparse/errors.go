package sparse

import "errors"

// Sentinels, matched with errors.Is. An error of this package wraps one of them,
// kernel.ErrShape or kernel.ErrNonFinite, and says which row, entry or size is at fault.
var (
	// ErrAlias reports that a destination overlaps its source.
	ErrAlias = errors.New("dst overlaps x")
	// ErrStructure reports row pointers or columns that do not describe a matrix.
	ErrStructure = errors.New("malformed sparse structure")
	// ErrRange reports numbers that a layout cannot hold.
	ErrRange = errors.New("out of the range of the layout")
	// ErrShared reports that a matrix has rows on other ranks where all rows are needed:
	// call CSR.Whole first.
	ErrShared = errors.New("some rows are with other ranks")
)
