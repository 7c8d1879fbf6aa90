package privatemail

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// ErrClosed reports the use of an Engine after Close.
var ErrClosed = errors.New("privatemail: engine is closed")

// ErrSettings reports a setting outside its range.
var ErrSettings = kernel.ErrOption

// ErrZeroRow reports a row of zeros where rows are divided by their norm.
var ErrZeroRow = points.ErrZeroRow

// A NonFiniteError gives the place of the first NaN or infinity, counted from 0, the message
// from 1. It has no value, since rows may be private. It matches kernel.ErrNonFinite.
type NonFiniteError = points.NonFiniteError

// A ZeroRowError says which row is zero. Row counts from 0, the message from 1. It matches ErrZeroRow.
type ZeroRowError = points.ZeroRowError
