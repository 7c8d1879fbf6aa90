//go:build !linux

package systemd

// monotonicMicroseconds is for the systems that have no systemd.
func monotonicMicroseconds() (int64, bool) { return 0, false }
