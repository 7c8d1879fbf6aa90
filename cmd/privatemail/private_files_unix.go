//go:build unix

package main

import "syscall"

// privateFiles lets only their owner read the files that are made until restore is called. A file
// that is replaced keeps its permissions.
func privateFiles() (restore func()) {
	before := syscall.Umask(0o077)
	return func() { syscall.Umask(before) }
}
