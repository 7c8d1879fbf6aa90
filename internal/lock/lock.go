// Package lock opens files that only one process at a time may write to.
//
// The lock belongs to the open file: it ends when the file is closed or the process
// dies in any way. It also excludes a second Open in the same process. Nothing that
// looks like a lock remains after a crash.
package lock

import "errors"

// ErrHeld reports a file that is already open through this package.
var ErrHeld = errors.New("file is in use by another process")
