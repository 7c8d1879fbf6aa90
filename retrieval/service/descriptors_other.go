//go:build !unix

package service

import (
	"math"
	"net"
)

// descriptorsLeft returns how many connections the limit of open files allows: there is none here.
func descriptorsLeft() int { return math.MaxInt32 }

// pending reports whether a connection waits to be accepted, or that nobody knows.
func pending(net.Listener) bool { return true }
