package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// firstFD is the number of the first socket that is passed.
const firstFD = 3

// maxSockets is more than any of our units passes.
const maxSockets = 64

// ErrSockets reports sockets that were announced but cannot be used.
var ErrSockets = errors.New("sockets of the manager not usable")

// Listeners returns the sockets that a manager has opened for this process, by the names
// that LISTEN_FDNAMES gives them (FileDescriptorName= of a .socket unit). It is empty if
// there are none. Listeners unsets the variables, so that child processes do not use the
// sockets.
func Listeners() (map[string]net.Listener, error) { return listeners(firstFD) }

// listeners is Listeners for sockets from a given number on.
func listeners(first int) (map[string]net.Listener, error) {
	pid, count, names := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"), os.Getenv("LISTEN_FDNAMES")
	if pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, fmt.Errorf("systemd: %w: %w", ErrSockets, err)
		}
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxSockets {
		return nil, fmt.Errorf("systemd: %w: LISTEN_FDS is not a number from 1 to %d", ErrSockets, maxSockets)
	}
	named := strings.Split(names, ":")
	if len(named) != n || names == "" {
		return nil, fmt.Errorf("systemd: %w: %d sockets, but LISTEN_FDNAMES does not have as many names", ErrSockets, n)
	}
	found := make(map[string]net.Listener)
	for i, name := range named {
		l, err := listener(uintptr(first+i), name)
		if err == nil && found[name] != nil {
			err = errors.Join(errors.New("it occurs twice"), l.Close())
		}
		if err != nil {
			for _, l := range found {
				err = errors.Join(err, l.Close())
			}
			return nil, fmt.Errorf("systemd: %w: socket %d of %d: %w", ErrSockets, i+1, n, err)
		}
		found[name] = l
	}
	return found, nil
}

// listener returns the listener of an open file, which is copied and closed.
func listener(fd uintptr, name string) (net.Listener, error) {
	file := os.NewFile(fd, name)
	if file == nil {
		return nil, errors.New("there is no such file")
	}
	l, err := net.FileListener(file)
	return l, errors.Join(err, file.Close())
}
