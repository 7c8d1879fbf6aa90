package main

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// A forecast is the time that graph and steps of an operator are likely to take.
type forecast struct {
	Low, High float64
	// Slowdown is how many times longer work took when plan looked than on a machine at
	// rest, because of other programs.
	Slowdown float64
}

const (
	// forecastMargin is how far off the seconds of the planner may be on a machine at
	// rest, as a factor.
	forecastMargin = 3
	// startSeconds are for what the planner does not count: to start workers, and to
	// get memory.
	startSeconds = 0.02
	// busySlowdown is from where on other programs are worth a word. They do more than
	// to take their turns: caches are shared, and workers wait for the last one. So a
	// busy machine may be slower by busyMargin still.
	busySlowdown = 1.25
	busyMargin   = 2
)

func newForecast(c *kernel.Candidate, slowdown float64) forecast {
	f := forecast{c.Seconds / forecastMargin, (c.Seconds + startSeconds) * forecastMargin, slowdown}
	if f.busy() {
		f.High *= slowdown * busyMargin
	}
	return f
}

func (f forecast) busy() bool { return f.Slowdown >= busySlowdown }

func (f forecast) String() string {
	text := fmt.Sprintf("graph and steps are likely to take %.2g to %.2g s", f.Low, f.High)
	if f.busy() {
		text += fmt.Sprintf("; other programs make this machine about %.1f times slower just now, at rest it would be %.2g s at most", f.Slowdown, f.High/f.Slowdown/busyMargin)
	}
	return text
}
