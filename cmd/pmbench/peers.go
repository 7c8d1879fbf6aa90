package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func peersVerb() cli.Verb {
	about := `
Builds the peers that are installed and lets them and us take turns on the same data,
first checking that the results are the same. A ratio is their time over ours, the
median of at least 5 rounds: above 1 we are faster. No ratio is given for a result
that differs. A peer that is not installed is named, and is no error. When Ctrl-C,
SIGTERM or a peer that fails ends the run early, the rounds that were finished are
printed, with their number, and kept where -record says, in a file whose name ends in
-ended-early: a whole recording that is there already stays. The peers end too. A second
Ctrl-C ends the program at once.

With -case, -peer or -n a recording is of a part of a suite: -record gives it a name with
-part, and the recording of the whole suite stays. report takes the newest of each case.

`
	for _, s := range peerSuites() {
		about += fmt.Sprintf("  %-8s %s\n", s.name, strings.ReplaceAll(strings.TrimSpace(s.about+"\n"+s.note), "\n", "\n"+strings.Repeat(" ", 11)))
	}
	about += `
CXX and PYTHON name another compiler and interpreter.
`
	return cli.Verb{
		Name: "peers", Summary: "measure others on the same data, in the same minute",
		Synopsis: []string{"[-suite spmm,cells,wide,iterate,search,nearest,sealed,linked,ranks] [-case PATTERN] [-count N] [-json] [-record FOLDER]"},
		About:    about,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench peers", "pmbench peers -suite spmm -case 'k=8/' -count 9 -json > peers.jsonl", "pmbench peers -record recordings"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(peersFlags)
			fs.StringVar(&f.suite, "suite", "spmm,cells", "the suites `NAMES`: "+strings.Join(peerSuiteNames(), ", ")+", with commas")
			fs.StringVar(&f.pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
			fs.StringVar(&f.peer, "peer", "", "only peers whose name matches the regular expression `PATTERN`, whatever its case")
			cli.CountVar(fs, &f.count, "count", minRounds, "measure `N` rounds, at least 5")
			cli.CountVar(fs, &f.n, "n", defaultRows, "number of rows `N`, or the most there may be where a suite has fewer")
			fs.DurationVar(&f.slice, "slice", 150*time.Millisecond, "in a round either side repeats its operation for the `TIME`, at least once")
			recordVar(fs, &f.record)
			fs.BoolVar(&f.noLimits, "no-limits", false, "do not measure the limits of the machine")
			return f.run
		},
	}
}

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
