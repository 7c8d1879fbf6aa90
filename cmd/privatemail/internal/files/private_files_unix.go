//go:build unix

package files

import "syscall"

// MakePrivate lets only their owner read the files that are made until restore is called. A file
// that is replaced keeps its permissions.
func MakePrivate() (restore func()) {
	before := syscall.Umask(0o077)
	return func() { syscall.Umask(before) }
}
