//go:build unix

package service

import (
	"math"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// descriptorsKept are those that connections of clients leave: for files, listeners and the admin
// listener.
const descriptorsKept = 64

// descriptorsLeft returns how many connections the limit of open files allows.
func descriptorsLeft() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt32
	}
	return int(max(16, min(int64(min(uint64(limit.Cur), math.MaxInt32)), math.MaxInt32)-descriptorsKept))
}

// pending reports whether a connection waits to be accepted.
func pending(l net.Listener) bool {
	of, ok := l.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := of.SyscallConn()
	if err != nil {
		return true
	}
	waits := true
	if err := raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		waits = err != nil || n > 0
	}); err != nil {
		return true // Accept says why
	}
	return waits
}
