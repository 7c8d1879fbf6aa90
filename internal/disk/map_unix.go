//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"os"
	"syscall"
)

// Map maps the first size bytes of f, at least one, for reading. The mapping is valid until
// unmap is called, even after f is closed.
func Map(f *os.File, size int) (data []byte, unmap func() error, err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return os.NewSyscallError("munmap", syscall.Munmap(data)) }, nil
}
