package retrieval

import "errors"

// Sentinels, matched with errors.Is. Rows that are not fit to be used are
// kernel.ErrShape, kernel.ErrNonFinite, points.ErrZeroRow and kernel.ErrLabels, in
// this package and those below it.
var (
	// ErrCells reports numbers from which no codebook can be made.
	ErrCells = errors.New("no codebook for these numbers")
	// ErrCodebook reports a message that goes with another codebook than the
	// one at hand, or a codebook that is not the one expected, or may not be the
	// one that others have.
	ErrCodebook = errors.New("another codebook")
	// ErrCeiling reports a question about a ceiling that has no answer.
	ErrCeiling = errors.New("no ceiling for these numbers")
)
