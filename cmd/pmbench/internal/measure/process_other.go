//go:build !unix

package measure

import (
	"os/exec"
	"time"
)

// endApart ends a program that was started when its context ends.
func endApart(c *exec.Cmd) { c.WaitDelay = 5 * time.Second }
