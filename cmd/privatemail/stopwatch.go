package main

import (
	"fmt"
	"time"
)

// The parts of the time that embed and graph take.
const (
	timeReading = "reading"
	timeGraph   = "graph"
	timeMap     = "map"
	timeSteps   = "steps"
	timeWriting = "writing"
)

// A stopwatch splits the time of a command into parts, which add up to the whole.
type stopwatch struct {
	last  time.Time
	names []string
	parts map[string]time.Duration
}

func newStopwatch(names ...string) *stopwatch {
	return &stopwatch{last: time.Now(), names: names, parts: make(map[string]time.Duration)}
}

// lap adds the time since the last lap to a part.
func (w *stopwatch) lap(name string) { w.split(name, name, 0) }

// split adds so much of the time since the last lap to one part, and the rest to another.
func (w *stopwatch) split(rest, name string, some time.Duration) {
	now := time.Now()
	all := now.Sub(w.last)
	some = min(max(some, 0), all)
	w.parts[name] += some
	w.parts[rest] += all - some
	w.last = now
}

// rounded returns the parts in multiples of a unit, and their sum.
func (w *stopwatch) rounded(unit time.Duration) (parts []int64, sum int64) {
	for _, name := range w.names {
		part := int64(w.parts[name].Round(unit) / unit)
		parts, sum = append(parts, part), sum+part
	}
	return parts, sum
}

// String has the whole and its parts, to a hundredth of a second: parts as written add up.
func (w *stopwatch) String() string {
	parts, sum := w.rounded(10 * time.Millisecond)
	words := make([]string, len(parts))
	for i, name := range w.names {
		words[i] = fmt.Sprintf("%.2f for %s", float64(parts[i])/100, timeWords(name))
	}
	return fmt.Sprintf("%.2f s: %s", float64(sum)/100, inWords(words))
}

func timeWords(name string) string {
	switch name {
	case timeGraph, timeMap, timeSteps:
		return "the " + name
	}
	return name
}

// timeReport is what -json says of the time, in thousandths of a second that add up. What is
// built and the steps stand in graphReport.
type timeReport struct {
	Seconds        float64 `json:"seconds"` // reading, building, steps and writing
	ReadingSeconds float64 `json:"reading_seconds"`
	WritingSeconds float64 `json:"writing_seconds"`
}

// report returns what -json says of the time, and says in g how long the graph and the steps took.
func (w *stopwatch) report(g *graphReport) (out timeReport) {
	parts, sum := w.rounded(time.Millisecond)
	out.Seconds = float64(sum) / 1000
	g.BuildSeconds, g.StepsSeconds = 0, 0
	for i, name := range w.names {
		seconds := float64(parts[i]) / 1000
		switch name {
		case timeReading:
			out.ReadingSeconds = seconds
		case timeGraph:
			g.BuildSeconds = seconds
		case timeMap, timeSteps:
			g.StepsSeconds = seconds
		case timeWriting:
			out.WritingSeconds = seconds
		}
	}
	return out
}
