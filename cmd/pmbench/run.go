package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

type runFlags struct {
	suite, pattern, out, record string
	count, rows, calm           int
	full, noLimits              bool
}

// chosen returns the suites that were asked for, and the pattern of their cases.
func (f *runFlags) chosen() (out []suite, pattern *regexp.Regexp, err error) {
	if out, err = chooseSuites(f.suite); err != nil {
		return nil, nil, err
	}
	pattern, err = choosePattern(f.pattern)
	return out, pattern, err
}

func (f *runFlags) schedule(of suite) schedule {
	s := schedule{rounds: f.count, budget: defaultBudget, slice: 200 * time.Millisecond, long: 3 * time.Second}
	if f.full {
		s.slice = time.Second
		if s.rounds == 0 {
			s.rounds = maxRounds
		}
	}
	if of.slice > 0 {
		s.slice = of.slice
	}
	if f.count > 0 { // for a comparison
		s.patience = 3 * s.slice
	}
	return s
}

func (f *runFlags) run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q: a suite is named by -suite", names[0])
	}
	if err := cli.CheckPlace(f.out); err != nil {
		return err
	}
	records, m, err := f.measure(ctx, e, func(r *Record) error {
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
func showRun(e *cli.Env, m *Machine, records []*Record) error {
	if !e.JSON {
		fmt.Fprintln(e.Stdout, m)
		if err := writeTable(e.Stdout, summarise(records)); err != nil {
			return err
		}
	}
	return checkLevels(records)
}

// writeOut writes the Go benchmark format and returns how the run ended.
func (f *runFlags) writeOut(ctx context.Context, e *cli.Env, m *Machine, records []*Record, ended error) error {
	if f.out == "" {
		return ended
	}
	out := f.out
	if ended != nil {
		out = earlyName(out)
		e.Note("what was measured goes to %s", out)
	}
	err := writeWhole(ctx, out, func(w io.Writer) error { return writeBenchmarks(w, m, records) })
	return endedWith(ctx, ended, err)
}

// measure runs the chosen suites, one after the other. With an error it returns what was
// measured before.
func (f *runFlags) measure(ctx context.Context, e *cli.Env, emit func(*Record) error) ([]*Record, *Machine, error) {
	chosen, pattern, err := f.chosen()
	if err != nil {
		return nil, nil, err
	}
	e.NoteLevel()
	m := describeMachine()
	p := newMeter(e)
	defer p.clear()
	any := false
	for _, s := range chosen {
		l := newLab(m, p)
		l.ranks, l.rows = e.Ranks(), f.rows
		any = any || len(s.pick(l, pattern, f.full)) > 0
		if !e.Ranks().Alone() && s.name != "ranks" {
			return nil, nil, cli.Usagef("suite %s runs on one process, and %d were started: suite ranks is what several can do", s.name, e.Ranks().Size())
		}
		if f.rows > 0 && s.name != "sealed" && s.name != "ranks" {
			return nil, nil, cli.Usagef("-n is for suites sealed and ranks: suite %s has sizes of its own", s.name)
		}
	}
	if !any {
		return nil, nil, cli.Usagef("no case matches %q%s", f.pattern, map[bool]string{false: "; -full has more cases"}[f.full])
	}
	folder, err := recordingFolder(f.record, m)
	if err != nil {
		return nil, nil, err
	}
	if m.busy() {
		e.Note("the machine is busy (load %s on %d cores): figures will vary", m.Load, m.Cores)
	}
	if !f.noLimits && e.Ranks().Rank() == 0 { // the others wait for its first case
		p.show("limits of the machine", 0)
		if err := measureLimits(ctx, m, allWorkers()); err != nil {
			return nil, nil, err
		}
	}
	var records []*Record
	for i, s := range chosen {
		l := newLab(m, p)
		l.ranks = e.Ranks()
		l.calm = f.calm
		l.limits, l.rows, l.work = !f.noLimits, f.rows, allWork.piece(i, len(chosen))
		own, err := f.measureSuite(ctx, e, l, s, pattern, emit)
		l.close()
		records = append(records, own...)
		if err = keepSuite(ctx, e, folder, s.name+f.part(e.Ranks().Size()), own, err); err != nil {
			return records, m, err
		}
	}
	return records, m, nil
}

// measureSuite runs the chosen cases of a suite. With an error it returns what was measured
// before, marked.
func (f *runFlags) measureSuite(ctx context.Context, e *cli.Env, l *lab, s suite, pattern *regexp.Regexp, emit func(*Record) error) (own []*Record, err error) {
	err = measureShared(ctx, l, s.name, s.pick(l, pattern, f.full), f.schedule(s), func(r *Record) error {
		r.Command = commandLine(e)
		own = append(own, r)
		l.meter.clear()
		return emit(r)
	})
	for _, r := range own {
		r.EndedEarly = err != nil
	}
	return own, err
}

// part is how the name of a recording ends that -case or -n make one of a part of a suite,
// or several ranks.
func (f *runFlags) part(ranks int) string {
	flags := []string{f.pattern}
	if ranks > 1 {
		flags = append(flags, fmt.Sprint("ranks=", ranks))
	}
	if f.rows > 0 {
		flags = append(flags, fmt.Sprint("n=", f.rows))
	}
	return partName(flags...)
}
