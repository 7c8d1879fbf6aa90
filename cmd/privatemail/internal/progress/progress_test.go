package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
)

func TestLines(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	l := newLines(&out, "embed", func() time.Time { return clock })
	for _, r := range []struct {
		after time.Duration
		p     privatemail.Progress
	}{
		{100 * time.Millisecond, privatemail.Progress{Stage: "count", Done: 1, Total: 4}},  // too early for a line
		{1900 * time.Millisecond, privatemail.Progress{Stage: "count", Done: 2, Total: 4}}, // two seconds since the start
		{time.Second, privatemail.Progress{Stage: "count", Done: 3, Total: 4}},
		{time.Second / 2, privatemail.Progress{Stage: "count", Done: 4, Total: 4}},   // the end
		{time.Second / 2, privatemail.Progress{Stage: "product", Done: 1, Total: 1}}, // the end of a short stage
		{0, privatemail.Progress{Stage: "steps", Done: 1, Total: 2}},
		{time.Second / 2, privatemail.Progress{Stage: "product", Done: 1, Total: 1}}, // shown before
		{0, privatemail.Progress{Stage: "steps", Done: 2, Total: 2}},
		{0, privatemail.Progress{Stage: "nothing", Done: 0, Total: 0}},
	} {
		clock = clock.Add(r.after)
		l.Report(r.p)
	}
	l.Close()
	want := `embed: count 50% (2 of 4), 2.0 s
embed: count 100% (4 of 4), 3.5 s
embed: product 100% (1 of 1), 0.5 s
embed: steps 100% (2 of 2), 0.0 s
embed: nothing 100% (0 of 0), 0.0 s
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestBar draws a bar through two stages; goleak sees to it that nothing of it
// stays behind.
func TestBar(t *testing.T) {
	var out clitest.Buffer
	b := newBar(&out)
	show := func(p privatemail.Progress, want ...string) {
		t.Helper()
		b.Report(p)
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			drawn, all := out.String(), true
			for _, w := range want {
				all = all && strings.Contains(drawn, w)
			}
			if all {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("no %q in %q", want, drawn)
			}
		}
	}
	show(privatemail.Progress{Stage: "find neighbours", Done: 1, Total: 4}, "find neighbours", " 25%", "[=")
	show(privatemail.Progress{Stage: "find neighbours", Done: 4, Total: 4}, "100%")
	show(privatemail.Progress{Stage: "steps", Done: 1, Total: 5}, "steps", " 20%")
	b.Close()
}

func TestQuietMeter(t *testing.T) {
	if _, ok := NewMeter(&cli.Env{Quiet: true}).(Silent); !ok {
		t.Error("-quiet is not quiet")
	}
	if _, ok := NewMeter(&cli.Env{Stderr: new(bytes.Buffer)}).(*lines); !ok {
		t.Error("a pipe does not get plain lines")
	}
}
