package privatemail

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/points"
)

// ErrClosed reports the use of an Engine after Close.
var ErrClosed = errors.New("privatemail: engine is closed")

// ErrReentrant reports that the progress function of an Engine has called a method of it.
// The method has done nothing: it would have waited for the work that waits for the
// progress function.
var ErrReentrant = errors.New("privatemail: called by the progress function of the same engine")

// ErrSettings reports a setting outside its range.
var ErrSettings = iterate.ErrSettings

// ErrZeroRow reports a row of zeros where rows are to be divided by their norm.
var ErrZeroRow = points.ErrZeroRow

// A ZeroRowError says which row is zero. Row counts from 0. It matches ErrZeroRow.
type ZeroRowError = points.ZeroRowError
