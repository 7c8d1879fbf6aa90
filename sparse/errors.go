package sparse

import "errors"

// Sentinels, matched with errors.Is. The errors returned wrap one of them and
// say which row, entry or size is at fault.
var (
	// ErrShape reports sizes that do not fit together.
	ErrShape = errors.New("shapes do not match")
	// ErrStructure reports row pointers or columns that describe no matrix.
	ErrStructure = errors.New("malformed sparse structure")
	// ErrNonFinite reports a NaN or an infinity.
	ErrNonFinite = errors.New("value is not finite")
)
