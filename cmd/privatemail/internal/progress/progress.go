// Package progress shows how far a run is: a bar on a terminal, lines elsewhere, nothing with -quiet.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed-64e14a55/privatemail"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Meter shows how far long work has come. Reports come from one goroutine at a
// time; Close ends the display and may be called once, after the last report.
type Meter interface {
	Report(privatemail.Progress)
	Close()
}

// NewMeter chooses how to show progress: a bar on a terminal, plain lines
// elsewhere, nothing with -quiet.
func NewMeter(e *cli.Env) Meter {
	if e.Quiet {
		return Silent{}
	}
	if _, ok := cli.IsTerminal(e.Stderr); ok {
		return newBar(e.Stderr)
	}
	return newLines(e.Stderr, e.Verb, time.Now)
}

type Silent struct{}

func (Silent) Report(privatemail.Progress) {}
func (Silent) Close()                      {}

// linePause is the least time between two lines about unfinished work.
const linePause = 2 * time.Second

// lines prints progress as plain lines: at most one every linePause, and one
// when a stage ends for the first time. A stage may come again, such as the
// product in each step.
type lines struct {
	w    io.Writer
	verb string
	now  func() time.Time

	mu    sync.Mutex
	stage string
	done  int
	began time.Time       // of the stage: when the one before was heard of last
	heard time.Time       // of the last report
	last  time.Time       // of the last line
	ended map[string]bool // stages whose end was shown
}

func newLines(w io.Writer, verb string, now func() time.Time) *lines {
	t := now()
	return &lines{w: w, verb: verb, now: now, began: t, heard: t, last: t, ended: map[string]bool{}}
}

func (l *lines) Report(p privatemail.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if p.Stage != l.stage || p.Done < l.done {
		l.stage, l.began = p.Stage, l.heard
	}
	l.done, l.heard = p.Done, now
	ends := p.Done >= p.Total && !l.ended[p.Stage]
	if !ends && now.Sub(l.last) < linePause {
		return
	}
	if ends {
		l.ended[p.Stage] = true
	}
	l.last = now
	fmt.Fprintf(l.w, "%s: %s %d%% (%d of %d), %.1f s\n", l.verb, p.Stage, percent(p), p.Done, p.Total, now.Sub(l.began).Seconds())
}

func (l *lines) Close() {}
