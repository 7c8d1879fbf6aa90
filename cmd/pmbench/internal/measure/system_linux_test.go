package measure

import (
	"math"
	"testing"
)

func TestParseProcessors(t *testing.T) {
	for _, c := range []struct {
		text string
		want processorTimes
	}{
		{"cpu  100 2 30 4000 5000 6 7 88 9 10\ncpu0 1 1 1 1 1 1 1 1\n", processorTimes{145, 88}},
		{"cpu 1 2 3 4 5 6 7 8", processorTimes{19, 8}}, // as old systems report it
		{"cpu 1 2 3 4 5 6 7\n", unknownTimes},
		{"cpu 1 2 3 x 5 6 7 8\n", unknownTimes},
		{"intr 1 2 3 4 5 6 7 8\n", unknownTimes},
		{"", unknownTimes},
	} {
		if got := parseProcessors(c.text); got != c.want && !(math.IsNaN(c.want.worked) && math.IsNaN(got.worked) && math.IsNaN(got.stolen)) {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
	if now := readProcessors(); !(now.worked > 0) {
		t.Errorf("this machine: %+v", now)
	}
}
