// Package lock opens files that only one process at a time may write to.
//
// The lock belongs to the open file: it ends when the file is closed or the
// process dies, however it dies, and it also keeps out a second Open in the same
// process. Nothing is left behind that could look like a lock after a crash.
package lock

import "errors"

// ErrHeld reports a file that somebody else has open by this package.
var ErrHeld = errors.New("file is in use by another process")
