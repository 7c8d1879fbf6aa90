package mechanism

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openLocked opens a file for reading and writing and lets nobody else write
// until it is closed or the process ends. Others may read.
func openLocked(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, ledgerFailure(&os.PathError{Op: "open", Path: path, Err: err})
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ,
		nil, syscall.OPEN_EXISTING, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, fmt.Errorf("mechanism: %w", ErrLocked)
	case err != nil:
		return nil, ledgerFailure(&os.PathError{Op: "open", Path: path, Err: err})
	}
	return os.NewFile(uintptr(handle), path), nil
}

// syncFolder does nothing: the system has no such call, and keeps names in a
// journal.
func syncFolder(string) error { return nil }
