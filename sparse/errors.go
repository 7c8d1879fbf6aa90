package sparse

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Sentinels, matched with errors.Is. An error of this package wraps one of them and
// says which row, entry or size is at fault.
var (
	// ErrShape reports sizes that do not fit together.
	ErrShape = points.ErrShape
	// ErrAlias reports that a destination overlaps its source.
	ErrAlias = errors.New("dst overlaps x")
	// ErrStructure reports row pointers or columns that do not describe a matrix.
	ErrStructure = errors.New("malformed sparse structure")
	// ErrRange reports numbers that a layout cannot hold.
	ErrRange = errors.New("out of the range of the layout")
	// ErrShared reports that a matrix has rows on other ranks where all rows are needed:
	// call CSR.Whole first.
	ErrShared = errors.New("some rows are with other ranks")
	// ErrNonFinite reports a NaN or an infinity.
	ErrNonFinite = points.ErrNonFinite
)
