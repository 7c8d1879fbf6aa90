package points

import (
	"errors"
	"fmt"
)

// Sentinels, matched with errors.Is. Other packages export them under the same
// names, so errors.Is recognises a fault from any package.
var (
	// ErrShape reports sizes that do not fit each other, their storage, or
	// memory.
	ErrShape = errors.New("shapes do not match")
	// ErrNonFinite reports a NaN or an infinity; see NonFiniteError for its place.
	ErrNonFinite = errors.New("value is not finite")
	// ErrZeroRow reports a row of zeros, which has no direction; see
	// ZeroRowError.
	ErrZeroRow = errors.New("row is zero")
	// ErrDiverged reports an iterate with an entry beyond LargestEntry.
	ErrDiverged = errors.New("the iterate diverges")
)

// NonFiniteError gives the place of the first NaN or infinity, but not the value,
// since rows may be private. It matches ErrNonFinite.
type NonFiniteError struct {
	What     string // what was read: "points" for features, "x" for an iterate
	Row, Col int    // counted from 0; the message counts from 1
}

// Error implements error.
func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("%s: %v: row %d, column %d", e.What, ErrNonFinite, e.Row+1, e.Col+1)
}

// Unwrap returns ErrNonFinite.
func (e *NonFiniteError) Unwrap() error { return ErrNonFinite }

// ZeroRowError names the row that cannot be scaled to unit length. Row counts
// from 0, the message from 1. It matches ErrZeroRow.
type ZeroRowError struct {
	Row int
}

// Error implements error.
func (e *ZeroRowError) Error() string {
	return fmt.Sprintf("%v: row %d", ErrZeroRow, e.Row+1)
}

// Unwrap returns ErrZeroRow.
func (e *ZeroRowError) Unwrap() error { return ErrZeroRow }
