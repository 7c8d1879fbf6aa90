package main

import (
	"testing"
	"time"
)

// Parts add up to the whole as they are written, whatever their digits are.
func TestStopwatch(t *testing.T) {
	w := newStopwatch(timeReading, timeGraph, timeMap, timeWriting)
	w.parts = map[string]time.Duration{timeReading: 14 * time.Millisecond, timeGraph: 1014 * time.Millisecond, timeMap: 24 * time.Millisecond, timeWriting: 4600 * time.Microsecond}
	if got, want := w.String(), "1.04 s: 0.01 for reading, 1.01 for the graph, 0.02 for the map and 0.00 for writing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var g graphReport
	if r := w.report(&g); r.Seconds != 1.057 || r.ReadingSeconds != 0.014 || g.BuildSeconds != 1.014 || g.StepsSeconds != 0.024 || r.WritingSeconds != 0.005 {
		t.Errorf("%+v, %v and %v", r, g.BuildSeconds, g.StepsSeconds)
	}
	w = newStopwatch(timeGraph, timeSteps)
	began := w.last
	w.split(timeGraph, timeSteps, time.Hour) // more than there was
	if w.parts[timeGraph] != 0 || w.parts[timeSteps] != w.last.Sub(began) {
		t.Errorf("%v", w.parts)
	}
}
