//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mechanism

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openLocked opens a file for reading and writing and locks it until it is
// closed or the process ends. The lock belongs to the open file, so it also
// keeps out a second one in this process.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, ledgerFailure(err)
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
		return nil, fmt.Errorf("mechanism: %w", ErrLocked)
	}
	return nil, ledgerFailure(os.NewSyscallError("flock", err))
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
