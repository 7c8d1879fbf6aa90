//go:build !unix

package measure

import (
	"os/exec"
	"time"
)

// endApart ends a program that was started when its context ends.
func endApart(c *exec.Cmd) { c.WaitDelay = 5 * time.Second }

// cpuSeconds returns 0: the system does not report it.
func cpuSeconds() float64 { return 0 }
