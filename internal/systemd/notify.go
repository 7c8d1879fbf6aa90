// Package systemd connects a service with the manager that started it: it sends
// messages of sd_notify and receives listeners of socket activation. Without such a
// manager its functions do nothing.
package systemd

import (
	"fmt"
	"net"
	"os"
	"strings"
)

// States that Notify sends.
const (
	Ready     = "READY=1"
	Reloading = "RELOADING=1"
	Stopping  = "STOPPING=1"
)

// Status returns the line that the manager shows about the service.
func Status(text string) string {
	return "STATUS=" + strings.ReplaceAll(text, "\n", " ")
}

// Notify sends states to the socket that the variable NOTIFY_SOCKET names. It does nothing
// without one. Reloading is sent with the time of the monotonic clock, as the manager
// requires.
func Notify(states ...string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	var lines []string
	for _, state := range states {
		lines = append(lines, state)
		if state != Reloading {
			continue
		}
		if clock, ok := monotonicMicroseconds(); ok {
			lines = append(lines, fmt.Sprintf("MONOTONIC_USEC=%d", clock))
		}
	}
	// Package net treats a name that begins with @ as abstract, as systemd does.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("systemd: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		return fmt.Errorf("systemd: %w", err)
	}
	return nil
}
