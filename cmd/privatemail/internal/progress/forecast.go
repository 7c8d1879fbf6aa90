package progress

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
	// A run on a machine at rest is likely to take from a part of the planner's seconds
	// to several times as much: the planner does not see how caches and memory differ.
	forecastPart  = 0.5
	forecastTimes = 6
	// startSeconds are for what the planner does not count: to start workers, and to
	// get memory.
	startSeconds = 0.02
	// busySlowdown is from where on other programs are worth a word.
	busySlowdown = 1.25
)

func NewForecast(c *kernel.Candidate, slowdown float64) forecast {
	return forecast{c.Seconds * forecastPart, (c.Seconds + startSeconds) * forecastTimes * slowdown, slowdown}
}

func (f forecast) busy() bool { return f.Slowdown >= busySlowdown }

func (f forecast) String() string {
	message := fmt.Sprintf("graph and steps are likely to take %.2g to %.2g s", f.Low, f.High)
	if f.busy() {
		message += fmt.Sprintf("; other programs make this machine about %.1f times slower just now, at rest it would be %.2g s at most", f.Slowdown, f.High/f.Slowdown)
	}
	return message
}
