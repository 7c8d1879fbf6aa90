package mechanism

import "github.com/seed-64e14a55/privatemail/mechanism/release"

// The kinds of a Unit. They are those of package release, which a release names its kind by.
const (
	UnitRecord = release.UnitRecord // one row, or rows that are released together
	UnitClient = release.UnitClient // all rows of one person or device
)
