package mechanism

import "github.com/seed-64e14a55/privatemail/mechanism/release"

// The kinds of a Unit, the same as in package release.
const (
	UnitRecord = release.UnitRecord // one row, or rows that are released together
	UnitClient = release.UnitClient // all rows of one person or device
)
