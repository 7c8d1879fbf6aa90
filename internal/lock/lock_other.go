//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package lock

import (
	"errors"
	"os"
)

// Open always fails with errors.ErrUnsupported: without a lock two processes
// could write to the file.
func Open(path string, flag int) (*os.File, error) {
	return nil, &os.PathError{Op: "lock", Path: path, Err: errors.ErrUnsupported}
}
