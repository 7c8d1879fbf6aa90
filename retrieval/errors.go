package retrieval

import "errors"

// ErrCeiling reports a question about a ceiling that has no answer. It is matched with errors.Is.
var ErrCeiling = errors.New("no ceiling for these numbers")
