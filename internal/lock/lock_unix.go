//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"errors"
	"os"
	"syscall"
)

// Open opens a file for reading and writing and locks it. The flag is 0, or
// os.O_CREATE to make a file that does not exist. Errors are ErrHeld,
// errors.ErrUnsupported where the system has no locks, and those of os.OpenFile.
func Open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}
