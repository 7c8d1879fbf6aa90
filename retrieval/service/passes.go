package service

import (
	"sync/atomic"
	"time"
)

// passCounts count passes of mode sealed.
type passCounts struct {
	requests atomic.Int64
	seconds  histogram // of passes
}

// add counts a pass that requests have shared.
func (c *passCounts) add(requests int, took time.Duration) {
	c.requests.Add(int64(requests))
	c.seconds.add(took)
}

// writePasses writes the metrics of mode sealed. How many requests share a pass is the
// quotient of the two counts.
func (m *metrics) writePasses(s series) {
	both := []struct {
		label  string
		counts *passCounts
	}{{label("over", "gallery"), &m.galleryPasses}, {label("over", "records"), &m.recordPasses}}
	s.head("privatemail_sealed_pass_requests_total", "counter", "Requests of mode sealed that were answered by a pass.")
	for _, c := range both {
		s.value("privatemail_sealed_pass_requests_total", c.label, float64(c.counts.requests.Load()))
	}
	s.head("privatemail_sealed_pass_seconds", "histogram", "Time of a pass of mode sealed, which requests share.")
	for _, c := range both {
		c.counts.seconds.write(s, "privatemail_sealed_pass_seconds", c.label)
	}
}
