//go:build !linux

package measure

import (
	"errors"
	"runtime/metrics"
)

type counters struct{}

func openCounters() (*counters, error) { return nil, errors.New("only on Linux") }

func (*counters) read() float64 { return 0 }
func (*counters) close()        {}

// resetPeak returns the memory in use now. Without the system's counter the
// peak is what the Go runtime holds when asked.
func resetPeak() int64 { return peakMemory() }

// peakMemory returns what the Go runtime has taken from the system.
func peakMemory() int64 {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(held)
	return int64(held[0].Value.Uint64() - held[1].Value.Uint64())
}

// readProcessors does not know here.
func readProcessors() processorTimes { return unknownTimes }
