package progress

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/kernel"
)

func TestShareOfProcessors(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name  string
		looks []look
		want  float64
	}{
		{"alone", []look{{100, ms, 100 * ms}, {100, ms, 100 * ms}}, 1},
		{"half of either", []look{{50, ms, 100 * ms}, {50, ms, 100 * ms}}, 0.5},
		{"one of two", []look{{100, ms, 100 * ms}, {2, 2 * ms, 104 * ms}}, 0.5},
		{"both slowed, one fast for a moment", []look{{50, 2 * ms, 100 * ms}, {50, ms, 100 * ms}}, 0.5},
		{"next to nothing", []look{{1, 1, 100 * ms}}, 0.01},
	} {
		if got := shareOf(c.looks); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
	if got := Slowdown(3); !(got >= 1) || math.IsInf(got, 1) {
		t.Errorf("measured %g", got)
	}
}

func TestRunningThreads(t *testing.T) {
	for message, want := range map[string]int{"": 0, "cpu 1 2\nprocs_running 7\nprocs_blocked 9\n": 7, "procs_running x\n": 0, "procs_running 3": 3} {
		if got := runningThreads([]byte(message)); got != want {
			t.Errorf("%q: %d, want %d", message, got, want)
		}
	}
}

func TestForecast(t *testing.T) {
	c := &kernel.Candidate{Seconds: 1.98}
	rest, busy := NewForecast(c, 1), NewForecast(c, 4)
	if math.Abs(rest.High-12) > 1e-12 || math.Abs(busy.High-48) > 1e-12 || rest.Low != 0.99 || busy.Low != rest.Low {
		t.Errorf("%+v and %+v", rest, busy)
	}
	if got := rest.String(); got != "graph and steps are likely to take 0.99 to 12 s" {
		t.Error(got)
	}
	if got := busy.String(); !strings.Contains(got, "0.99 to 48 s") || !strings.Contains(got, "about 4.0 times slower just now, at rest it would be 12 s at most") {
		t.Error(got)
	}
}
