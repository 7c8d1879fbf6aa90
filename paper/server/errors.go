package server

import "errors"

// ErrRows reports rows that cannot be searched as asked. It is matched with errors.Is.
var ErrRows = errors.New("rows not usable")
