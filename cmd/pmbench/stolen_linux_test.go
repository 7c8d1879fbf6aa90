package main

import "testing"

func TestParseProcessors(t *testing.T) {
	for _, c := range []struct {
		text string
		want processorTimes
		ok   bool
	}{
		{"cpu  100 2 30 4000 5000 6 7 88 9 10\ncpu0 1 1 1 1 1 1 1 1\n", processorTimes{145, 88}, true},
		{"cpu 1 2 3 4 5 6 7 8", processorTimes{19, 8}, true}, // as old systems tell it
		{"cpu 1 2 3 4 5 6 7\n", processorTimes{}, false},
		{"cpu 1 2 3 x 5 6 7 8\n", processorTimes{}, false},
		{"intr 1 2 3 4 5 6 7 8\n", processorTimes{}, false},
		{"", processorTimes{}, false},
	} {
		if got, ok := parseProcessors(c.text); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, ok)
		}
	}
	if now, ok := readProcessors(); !ok || !(now.worked > 0) {
		t.Errorf("this machine: %+v, %v", now, ok)
	}
}
