package lock

import (
	"errors"
	"os"
	"syscall"
)

// Open opens a file for reading and writing and prevents others from writing to it;
// they may read. The flag is 0, or os.O_CREATE to make a file that does not exist.
// Errors are ErrHeld and those of the system.
func Open(path string, flag int) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	disposition := uint32(syscall.OPEN_EXISTING)
	if flag&os.O_CREATE != 0 {
		disposition = syscall.OPEN_ALWAYS
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ,
		nil, disposition, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	if errors.Is(err, sharingViolation) {
		err = ErrHeld
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}
