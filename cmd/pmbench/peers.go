package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// minRounds is the least number of rounds a ratio is made of.
const minRounds = 5

type peersFlags struct {
	suite, pattern, peer, record string
	count, n                     int
	slice                        time.Duration
	noLimits                     bool
}

func (f *peersFlags) run(ctx context.Context, e *cli.Env, names []string) (err error) {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q", names[0])
	}
	wanted, pattern, peers, err := f.chosen()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pmbench-peers-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := os.CopyFS(folder, peerSources); err != nil {
		return err
	}
	e.NoteLevel()
	m := describeMachine()
	kept, err := recordingFolder(f.record, m)
	if err != nil {
		return err
	}
	l := newLab(m, newMeter(e))
	defer l.close()
	defer l.meter.clear()
	if m.busy() {
		e.Note("the machine is busy (load %s on %d cores): ratios will vary", m.Load, m.Cores)
	}
	if !f.noLimits {
		l.show("limits of the machine", 0)
		if err := measureLimits(ctx, m, allWorkers()); err != nil {
			return err
		}
	}
	c := &contest{lab: l, e: e, folder: folder, rounds: f.count, slice: f.slice.Seconds(), pattern: pattern, peers: peers, built: map[string]built{}}
	for i, s := range wanted {
		before := len(c.ratios)
		err := s.play(c, ctx, f.n, allWork.piece(i, len(wanted)))
		l.meter.clear()
		if err = keepSuite(ctx, e, kept, "peers-"+s.name+f.part(), c.ratios[before:], err); err != nil {
			return errors.Join(err, c.showEnded())
		}
	}
	switch {
	case len(c.ratios) == 0 && f.peer != "":
		return cli.Usagef("no case matches %q with a peer that matches %q", f.pattern, f.peer)
	case len(c.ratios) == 0:
		return cli.Usagef("no case matches %q", f.pattern)
	}
	return c.show()
}

// part is how the name of a recording ends that the flags make one of a part of a suite.
// -n counts, for the cases of other sizes are others.
func (f *peersFlags) part() string {
	rows := ""
	if f.n != defaultRows {
		rows = fmt.Sprint("n=", f.n)
	}
	return partName(f.pattern, f.peer, rows)
}

// show prints the table, unless the ratios were printed one by one as JSON.
func (c *contest) show() error {
	if c.e.JSON {
		return nil
	}
	c.lab.meter.clear()
	fmt.Fprintln(c.e.Stdout, c.lab.machine)
	return writeRatios(c.e.Stdout, c.ratios)
}

// showEnded shows what was measured before the run ended early, if anything was.
func (c *contest) showEnded() error {
	c.lab.meter.clear()
	if len(c.ratios) == 0 {
		c.e.Note("ended before the first round was finished: there is no ratio")
		return nil
	}
	c.e.Note("ended early; ratios of finished rounds: %d", len(c.ratios))
	return c.show()
}

// chosen returns what the flags choose: suites, cases and peers.
func (f *peersFlags) chosen() (wanted []peerSuite, pattern, peers *regexp.Regexp, err error) {
	if f.count < minRounds {
		return nil, nil, nil, cli.Usagef("-count %d is too few for a ratio: want at least %d", f.count, minRounds)
	}
	if wanted, err = choosePeerSuites(f.suite); err != nil {
		return nil, nil, nil, err
	}
	if pattern, err = choosePattern(f.pattern); err != nil {
		return nil, nil, nil, err
	}
	peers, err = choosePeers(f.peer)
	return wanted, pattern, peers, err
}
