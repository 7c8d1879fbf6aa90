package systemd

import "golang.org/x/sys/unix"

// monotonicMicroseconds returns the time of CLOCK_MONOTONIC.
func monotonicMicroseconds() (int64, bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0, false
	}
	return t.Nano() / 1000, true
}
