package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Options are what verb run is asked for.
type Options struct {
	Suite   string // names with commas, or all
	Pattern string
	Out     string // the file in the Go benchmark format; "": none
	Record  string // the folder of recordings; "": none
	Count   int    // rounds; 0: as many as fit
	Rows    int    // of suites sealed and ranks; 0: as many as they have by themselves
	Calm    int    // processors that have to be undisturbed during what counts; 0: all counts
	Full    bool
	// NoLimits leaves out the limits of the machine.
	NoLimits bool
}

// Chosen returns the suites that were asked for, and the pattern of their cases.
func (f *Options) Chosen() (out []Suite, pattern *regexp.Regexp, err error) {
	if out, err = Choose(f.Suite); err != nil {
		return nil, nil, err
	}
	pattern, err = ChoosePattern(f.Pattern)
	return out, pattern, err
}

// Schedule says how long to measure the cases of a suite.
func (f *Options) Schedule(of Suite) measure.Schedule {
	s := measure.Schedule{Rounds: f.Count, Time: measure.DefaultTime, Slice: 200 * time.Millisecond, Long: 3 * time.Second}
	if f.Full {
		s.Slice = time.Second
		if s.Rounds == 0 {
			s.Rounds = measure.MaxRounds
		}
	}
	if of.slice > 0 {
		s.Slice = of.slice
	}
	if f.Count > 0 { // for a comparison
		s.Patience = 3 * s.Slice
	}
	return s
}

// Run measures the chosen suites and shows what came of it. No names are wanted.
func (f *Options) Run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q: a suite is named by -suite", names[0])
	}
	if err := cli.CheckPlace(f.Out); err != nil {
		return err
	}
	records, m, err := f.Measure(ctx, e, func(r *record.Record) error {
		if e.JSON {
			return e.Object(r)
		}
		return nil
	})
	if len(records) == 0 {
		return err
	}
	if err != nil {
		e.Note("ended early; measurements of finished rounds: %d", len(records))
	}
	shown := showRun(e, m, records)
	return errors.Join(f.writeOut(ctx, e, m, records, err), shown)
}

// showRun prints the tables of a run whose records have not been printed, and returns an
// error where suite levels finds a loop that is slow as chosen.
func showRun(e *cli.Env, m *record.Machine, records []*record.Record) error {
	if !e.JSON {
		fmt.Fprintln(e.Stdout, m)
		if err := writeTable(e.Stdout, record.Summarise(records)); err != nil {
			return err
		}
	}
	return checkLevels(records)
}

// writeOut writes the Go benchmark format and returns how the run ended.
func (f *Options) writeOut(ctx context.Context, e *cli.Env, m *record.Machine, records []*record.Record, ended error) error {
	if f.Out == "" {
		return ended
	}
	out := f.Out
	if ended != nil {
		out = record.EarlyName(out)
		e.Note("what was measured goes to %s", out)
	}
	err := record.WriteWhole(ctx, out, func(w io.Writer) error { return record.WriteBenchmarks(w, m, records) })
	return record.EndedWith(ctx, ended, err)
}

// Measure runs the chosen suites, one after the other. With an error it returns what was
// measured before.
func (f *Options) Measure(ctx context.Context, e *cli.Env, emit func(*record.Record) error) ([]*record.Record, *record.Machine, error) {
	chosen, pattern, err := f.Chosen()
	if err != nil {
		return nil, nil, err
	}
	e.NoteLevel()
	m := measure.Machine()
	p := measure.NewMeter(e)
	defer p.Clear()
	any := false
	for _, s := range chosen {
		l := measure.NewLab(m, p)
		l.Ranks, l.Rows = e.Ranks(), f.Rows
		any = any || len(s.Pick(l, pattern, f.Full)) > 0
		if !e.Ranks().Alone() && s.Name != "ranks" {
			return nil, nil, cli.Usagef("suite %s runs on one process, and %d were started: suite ranks is what several can do", s.Name, e.Ranks().Size())
		}
		if f.Rows > 0 && s.Name != "sealed" && s.Name != "ranks" {
			return nil, nil, cli.Usagef("-n is for suites sealed and ranks: suite %s has sizes of its own", s.Name)
		}
	}
	if !any {
		return nil, nil, cli.Usagef("no case matches %q%s", f.Pattern, map[bool]string{false: "; -full has more cases"}[f.Full])
	}
	folder, err := record.Folder(f.Record, m)
	if err != nil {
		return nil, nil, err
	}
	if m.Busy() {
		e.Note("the machine is busy (load %s on %d cores): figures will vary", m.Load, m.Cores)
	}
	if !f.NoLimits && e.Ranks().Rank() == 0 { // the others wait for its first case
		p.Show("limits of the machine", 0)
		if err := measure.Limits(ctx, m, measure.AllWorkers()); err != nil {
			return nil, nil, err
		}
	}
	var records []*record.Record
	for i, s := range chosen {
		l := measure.NewLab(m, p)
		l.Ranks = e.Ranks()
		l.Calm = f.Calm
		l.Limits, l.Rows, l.Work = !f.NoLimits, f.Rows, measure.AllWork.Piece(i, len(chosen))
		own, err := f.measureSuite(ctx, e, l, s, pattern, emit)
		l.Close()
		records = append(records, own...)
		if err = record.Keep(ctx, e, folder, s.Name+f.part(e.Ranks().Size()), own, err); err != nil {
			return records, m, err
		}
	}
	return records, m, nil
}

// measureSuite runs the chosen cases of a suite. With an error it returns what was measured
// before, marked.
func (f *Options) measureSuite(ctx context.Context, e *cli.Env, l *measure.Lab, s Suite, pattern *regexp.Regexp, emit func(*record.Record) error) (own []*record.Record, err error) {
	err = measure.Run(ctx, l, s.Name, s.Pick(l, pattern, f.Full), f.Schedule(s), func(r *record.Record) error {
		r.Command = record.CommandLine(e)
		own = append(own, r)
		l.Meter.Clear()
		return emit(r)
	})
	for _, r := range own {
		r.EndedEarly = err != nil
	}
	return own, err
}

// part is how the name of a recording ends that -case or -n make one of a part of a suite,
// or several ranks.
func (f *Options) part(ranks int) string {
	flags := []string{f.Pattern}
	if ranks > 1 {
		flags = append(flags, fmt.Sprint("ranks=", ranks))
	}
	if f.Rows > 0 {
		flags = append(flags, fmt.Sprint("n=", f.Rows))
	}
	return record.PartName(flags...)
}
