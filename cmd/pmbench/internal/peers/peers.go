// Package peers measures other libraries and programs and this one: on the same data, in
// turns, and only where the results are the same. Their programs are in folder programs, and
// each is started once and asked by lines of JSON.
package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// MinRounds is the least number of rounds a ratio is made of.
const MinRounds = 5

// Options are what verb peers is asked for.
type Options struct {
	Suite, Pattern, Peer string
	Record               string // the folder of recordings; "": none
	Count                int    // rounds
	N                    int    // rows
	Slice                time.Duration
	NoLimits             bool
}

// Run lets the peers and us take turns. No names are wanted.
func (f *Options) Run(ctx context.Context, e *cli.Env, names []string) (err error) {
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
	m := measure.Machine()
	kept, err := record.Folder(f.Record, m)
	if err != nil {
		return err
	}
	l := measure.NewLab(m, measure.NewMeter(e))
	defer l.Close()
	defer l.Meter.Clear()
	if m.Busy() {
		e.Note("the machine is busy (load %s on %d cores): ratios will vary", m.Load, m.Cores)
	}
	if !f.NoLimits {
		l.Show("limits of the machine", 0)
		if err := measure.Limits(ctx, m, measure.AllWorkers()); err != nil {
			return err
		}
	}
	c := &contest{lab: l, e: e, folder: folder, rounds: f.Count, slice: f.Slice.Seconds(), pattern: pattern, peers: peers, built: map[string]built{}}
	for i, s := range wanted {
		before := len(c.ratios)
		err := s.play(c, ctx, f.N, measure.AllWork.Piece(i, len(wanted)))
		l.Meter.Clear()
		if err = record.Keep(ctx, e, kept, "peers-"+s.Name+f.part(), c.ratios[before:], err); err != nil {
			return errors.Join(err, c.showEnded())
		}
	}
	switch {
	case len(c.ratios) == 0 && f.Peer != "":
		return cli.Usagef("no case matches %q with a peer that matches %q", f.Pattern, f.Peer)
	case len(c.ratios) == 0:
		return cli.Usagef("no case matches %q", f.Pattern)
	}
	return c.show()
}

// part is how the name of a recording ends that the flags make one of a part of a suite.
// -n counts, for the cases of other sizes are others.
func (f *Options) part() string {
	rows := ""
	if f.N != suites.DefaultRows {
		rows = fmt.Sprint("n=", f.N)
	}
	return record.PartName(f.Pattern, f.Peer, rows)
}

// show prints the table, unless the ratios were printed one by one as JSON.
func (c *contest) show() error {
	if c.e.JSON {
		return nil
	}
	c.lab.Meter.Clear()
	fmt.Fprintln(c.e.Stdout, c.lab.Machine)
	return record.WriteRatios(c.e.Stdout, c.ratios)
}

// showEnded shows what was measured before the run ended early, if anything was.
func (c *contest) showEnded() error {
	c.lab.Meter.Clear()
	if len(c.ratios) == 0 {
		c.e.Note("ended before the first round was finished: there is no ratio")
		return nil
	}
	c.e.Note("ended early; ratios of finished rounds: %d", len(c.ratios))
	return c.show()
}

// chosen returns what the flags choose: suites, cases and peers.
func (f *Options) chosen() (wanted []Suite, pattern, peers *regexp.Regexp, err error) {
	if f.Count < MinRounds {
		return nil, nil, nil, cli.Usagef("-count %d is too few for a ratio: want at least %d", f.Count, MinRounds)
	}
	if wanted, err = choosePeerSuites(f.Suite); err != nil {
		return nil, nil, nil, err
	}
	if pattern, err = suites.ChoosePattern(f.Pattern); err != nil {
		return nil, nil, nil, err
	}
	peers, err = choosePeers(f.Peer)
	return wanted, pattern, peers, err
}
