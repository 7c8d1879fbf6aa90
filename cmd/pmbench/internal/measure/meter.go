package measure

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// linePause is the least time between two lines about unfinished work.
const linePause = 2 * time.Second

// A Meter shows how far long work has come: one line that is written over on a
// terminal, plain lines elsewhere, nothing with -quiet.
type Meter struct {
	w        io.Writer // nil when nothing is shown
	verb     string
	terminal bool
	now      func() time.Time
	began    time.Time
	last     time.Time
	columns  int // of the terminal
	width    int // of what stands on it
}

// NewMeter returns the meter of a verb.
func NewMeter(e *cli.Env) *Meter {
	m := &Meter{w: e.Stderr, verb: e.Verb, now: time.Now, began: time.Now()}
	if e.Quiet {
		m.w = nil
	}
	m.columns, m.terminal = cli.IsTerminal(e.Stderr)
	return m
}

// Show says what is being done and what share of all work is behind it; from
// the share follows the estimate of the time left.
func (m *Meter) Show(what string, share float64) {
	now := m.now()
	if m.w == nil || !m.terminal && !m.last.IsZero() && now.Sub(m.last) < linePause {
		return
	}
	m.last = now
	elapsed := now.Sub(m.began)
	line := fmt.Sprintf("%s: %3.0f%% %s, %.0f s", m.verb, 100*min(max(share, 0), 1), what, elapsed.Seconds())
	if share > 0.02 && elapsed > time.Second {
		line += fmt.Sprintf(", %.0f s left", max(0, elapsed.Seconds()*(1/share-1)))
	}
	if !m.terminal {
		fmt.Fprintln(m.w, line)
		return
	}
	// A line that goes on below cannot be written over.
	line = line[:min(len(line), m.columns-1)]
	fmt.Fprint(m.w, "\r", line, strings.Repeat(" ", max(0, m.width-len(line))))
	m.width = len(line)
}

// Clear removes the line from a terminal; call it before anything is printed.
func (m *Meter) Clear() {
	if m.terminal && m.w != nil && m.width > 0 {
		fmt.Fprint(m.w, "\r", strings.Repeat(" ", m.width), "\r")
		m.width = 0
	}
}

// A Portion is a part of some work, by the share of it that lies before it and by its own.
type Portion struct{ from, length float64 }

// AllWork is all there is to do.
var AllWork = Portion{0, 1}

// Piece returns one of equal pieces of the portion.
func (p Portion) Piece(i, of int) Portion {
	length := p.length / float64(of)
	return Portion{p.from + float64(i)*length, length}
}

// At is the share of the whole when a share of the portion is done.
func (p Portion) At(share float64) float64 { return p.from + p.length*share }
