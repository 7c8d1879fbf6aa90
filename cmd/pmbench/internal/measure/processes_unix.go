//go:build unix

package measure

import (
	"os/exec"
	"syscall"
	"time"
)

// endApart keeps Ctrl-C in a terminal from a program that was started: it ends when its
// context does, and so not before this one knows of the signal. The program and all it
// has started are asked to end, and it is made to a little later.
func endApart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
}

// cpuSeconds returns the processor time this process has used.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)*1e-6 }
	return seconds(u.Utime) + seconds(u.Stime)
}
