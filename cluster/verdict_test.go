package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestVerdict(t *testing.T) {
	ok, a, b, shown := outcome{}, outcome{failed: true, code: 2, text: "a"}, outcome{failed: true, code: 3, text: "b"}, outcome{failed: true, code: 4}
	for _, c := range []struct {
		outcomes []outcome
		lines    string
		code     int
	}{
		{[]outcome{ok, ok}, "", 0},
		{[]outcome{a, a, a}, "a\n", 2},
		{[]outcome{a, ok, ok}, "rank 0: a\n", 2},
		{[]outcome{ok, ok, b}, "rank 2: b\n", 3},
		{[]outcome{ok, b, b}, "rank 1: b\n", 3},
		{[]outcome{b, a, b}, "rank 0: b\nrank 1: a\n", 3},
		{[]outcome{shown, shown}, "", 4},
		{[]outcome{ok, shown}, "", 4},
		{[]outcome{shown, a}, "rank 1: a\n", 4},
	} {
		if lines, code := verdict(c.outcomes); lines != c.lines || code != c.code {
			t.Errorf("%v: %q, %d", c.outcomes, lines, code)
		}
	}
}

func TestOutcomeTravels(t *testing.T) {
	long := strings.Repeat("ä", outcomeBytes)
	for _, o := range []outcome{{}, {failed: true, code: 130, text: "why"}, {pending: true, code: -1}, {failed: true, code: 1 << 20, text: long}} {
		block := make([]byte, outcomeBytes)
		for i := range block {
			block[i] = 0xff
		}
		o.put(block)
		got := readOutcome(block)
		if o.text == long {
			if len(got.text) < outcomeBytes-16 || !utf8.ValidString(got.text) || !strings.HasPrefix(long, got.text) {
				t.Errorf("%d bytes of a long text", len(got.text))
			}
			got.text = long
		}
		if got != o {
			t.Errorf("%v came as %v", o, got)
		}
	}
	hostile := make([]byte, outcomeBytes)
	for i := range hostile {
		hostile[i] = 0xff
	}
	if got := readOutcome(hostile); len(got.text) != outcomeBytes-8 {
		t.Errorf("a text of %d bytes", len(got.text))
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{fmt.Errorf("reading: %w", &endedError{Code: 7}), 7},
		{&endedError{}, 1},
		{fmt.Errorf("reading: %w", context.Canceled), 130},
		{context.DeadlineExceeded, 1},
	} {
		if got := exitCode(c.err); got != c.code {
			t.Errorf("%v: %d", c.err, got)
		}
	}
}

func TestWorldOfOne(t *testing.T) {
	own := fmt.Errorf("own")
	for _, w := range []*World{nil, {}} {
		if w.Ranks() != nil || w.Neighbours() != 1 || w.End(nil) != nil || w.End(own) != own {
			t.Errorf("%+v", w)
		}
	}
}

func TestErrorsSayWhat(t *testing.T) {
	for err, want := range map[error]string{
		&lostError{Rank: 3, Silent: 20 * time.Second}: "rank 3 is lost: nothing was heard from it for 20s",
		&endedError{Code: 5}:                          "exit code 5",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q", err)
		}
	}
}
