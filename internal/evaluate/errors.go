package evaluate

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Sentinels, matched with errors.Is.
var (
	// ErrShape reports sizes that do not fit each other or the request.
	ErrShape = points.ErrShape
	// ErrNonFinite reports a NaN or an infinity among the coordinates.
	ErrNonFinite = points.ErrNonFinite
	// ErrZeroRow reports a row that cannot be scaled to unit length.
	ErrZeroRow = points.ErrZeroRow
	// ErrRow reports a row number outside the matrix or the labels, or one that
	// appears twice where rows must differ.
	ErrRow = nearest.ErrRow
	// ErrLabel reports a query without a class: nothing can match it.
	ErrLabel = errors.New("query has no label")
)

// An UnavailableError says that a mode has no answer with these parameters on these
// data, though nothing is wrong with either. A sweep writes the reason down and goes on.
type UnavailableError struct {
	Reason string
}

// Error implements error.
func (e *UnavailableError) Error() string { return "not available: " + e.Reason }
