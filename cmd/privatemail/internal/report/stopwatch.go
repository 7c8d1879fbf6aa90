package report

import (
	"fmt"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
)

// The parts of the time that embed and graph take.
const (
	TimeReading = "reading"
	TimeGraph   = "graph"
	TimeMap     = "map"
	TimeSteps   = "steps"
	TimeWriting = "writing"
)

// A Stopwatch splits the time of a command into parts, which add up to the whole.
type Stopwatch struct {
	last  time.Time
	Names []string
	parts map[string]time.Duration
}

func NewStopwatch(names ...string) *Stopwatch {
	return &Stopwatch{last: time.Now(), Names: names, parts: make(map[string]time.Duration)}
}

// Lap adds the time since the last lap to a part.
func (w *Stopwatch) Lap(name string) { w.Split(name, name, 0) }

// Split adds that much of the time since the last lap to one part, and the rest to another.
func (w *Stopwatch) Split(rest, name string, some time.Duration) {
	now := time.Now()
	all := now.Sub(w.last)
	some = min(max(some, 0), all)
	w.parts[name] += some
	w.parts[rest] += all - some
	w.last = now
}

// rounded returns the parts in multiples of a unit, and their sum.
func (w *Stopwatch) rounded(unit time.Duration) (parts []int64, sum int64) {
	for _, name := range w.Names {
		part := int64(w.parts[name].Round(unit) / unit)
		parts, sum = append(parts, part), sum+part
	}
	return parts, sum
}

// String has the whole and its parts, to a hundredth of a second: parts as written add up.
func (w *Stopwatch) String() string {
	parts, sum := w.rounded(10 * time.Millisecond)
	words := make([]string, len(parts))
	for i, name := range w.Names {
		words[i] = fmt.Sprintf("%.2f for %s", float64(parts[i])/100, timeWords(name))
	}
	return fmt.Sprintf("%.2f s: %s", float64(sum)/100, text.InWords(words))
}

func timeWords(name string) string {
	switch name {
	case TimeGraph, TimeMap, TimeSteps:
		return "the " + name
	}
	return name
}

// Times is what -json says of the time, in thousandths of a second that add up. What is
// built and the steps stand in Graph.
type Times struct {
	Seconds        float64 `json:"seconds"` // reading, building, steps and writing
	ReadingSeconds float64 `json:"reading_seconds"`
	WritingSeconds float64 `json:"writing_seconds"`
}

// Report returns what -json says of the time, and says in g how long the graph and the steps took.
func (w *Stopwatch) Report(g *Graph) (out Times) {
	parts, sum := w.rounded(time.Millisecond)
	out.Seconds = float64(sum) / 1000
	g.BuildSeconds, g.StepsSeconds = 0, 0
	for i, name := range w.Names {
		seconds := float64(parts[i]) / 1000
		switch name {
		case TimeReading:
			out.ReadingSeconds = seconds
		case TimeGraph:
			g.BuildSeconds = seconds
		case TimeMap, TimeSteps:
			g.StepsSeconds = seconds
		case TimeWriting:
			out.WritingSeconds = seconds
		}
	}
	return out
}
