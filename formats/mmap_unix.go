//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package formats

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of f for reading. The mapping outlives f.
func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return os.NewSyscallError("munmap", syscall.Munmap(data)) }, nil
}
