//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mem

import (
	"os"
	"syscall"
)

// Outside returns memory of zeros, at least one byte, that does not belong to Go: it does not
// make the collector wait for more garbage, and goes back to the system when release is
// called. It begins at a multiple of 8 bytes.
func Outside(size int) (data []byte, release func() error, err error) {
	data, err = syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	Huge(data)
	return data, func() error { return os.NewSyscallError("munmap", syscall.Munmap(data)) }, nil
}
