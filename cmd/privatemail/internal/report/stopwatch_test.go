package report

import (
	"testing"
	"time"
)

// Parts add up to the whole as they are written, whatever their digits are.
func TestStopwatch(t *testing.T) {
	w := NewStopwatch(TimeReading, TimeGraph, TimeMap, TimeWriting)
	w.parts = map[string]time.Duration{TimeReading: 14 * time.Millisecond, TimeGraph: 1014 * time.Millisecond, TimeMap: 24 * time.Millisecond, TimeWriting: 4600 * time.Microsecond}
	if got, want := w.String(), "1.04 s: 0.01 for reading, 1.01 for the graph, 0.02 for the map and 0.00 for writing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var g Graph
	if r := w.Report(&g); r.Seconds != 1.057 || r.ReadingSeconds != 0.014 || g.BuildSeconds != 1.014 || g.StepsSeconds != 0.024 || r.WritingSeconds != 0.005 {
		t.Errorf("%+v, %v and %v", r, g.BuildSeconds, g.StepsSeconds)
	}
	w = NewStopwatch(TimeGraph, TimeSteps)
	began := w.last
	w.Split(TimeGraph, TimeSteps, time.Hour) // more than there was
	if w.parts[TimeGraph] != 0 || w.parts[TimeSteps] != w.last.Sub(began) {
		t.Errorf("%v", w.parts)
	}
}
