package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func runVerb() cli.Verb {
	about := "Measures a suite and prints a table, or with -json one object per measurement. Suites:\n"
	for _, s := range suites() {
		about += fmt.Sprintf("  %-10s %s\n", s.name, s.about)
	}
	about += `
Cases are measured in rounds, each once a round, so that slow changes of the machine
meet all alike. By default there are as many rounds as fit, at least one and at most
10, and a suite takes at most 45 s on a current server with two cores. The limits of
the machine are measured first; roof_fraction is the share of them a case reaches.
With -count a measurement waits for a calm moment, up to four times as long as it takes
without: see compare -h. -count 20 is a good recording for it. With -calm it waits up to ten
times as long, and figures are those of one stretch alone, the fastest of the first three in calm
moments.

When Ctrl-C, SIGTERM or a case that fails ends the run early, the rounds that were
finished are printed and marked, and kept where -out and -record say, in files whose names
end in -ended-early: a whole recording that is there already stays. A second Ctrl-C ends
the program at once.

With -case a recording is of a part of a suite: -record gives it a name with -part, and the
recording of the whole suite stays. report takes the newest of each case.

Suite search has cases op=equality in its long form (-full): the pairs found within three
radii, each the distance of a pair, are compared with those that the float64 distances of
all pairs give. The table says equal, or the command fails. PM_FEATURES=FOLDER takes the rows of
features.npy there in place of generated ones.

Suite sealed makes a gallery of a million rows first, or of as many as -n says. Its limit is
the slower of reading the gallery and of its multiply-adds of bytes, whose peak is measured on
data in the caches of a core.

Suite ranks builds graphs and takes steps of them, on as many ranks as mpirun has started:
mpirun -n 4 pmbench run -suite ranks. Each rank has one worker. -n sets the number of rows; the
search in many dimensions takes a tenth of them. Other suites run on one process. pmbench ranks
compares numbers of ranks.

Suite levels runs every inner loop at every level and choice of instructions that PM_SIMD
leaves. It fails where what is chosen takes over 1.15 times the best. -count 1 is its short
form.
`
	return cli.Verb{
		Name: "run", Summary: "measure a suite", Synopsis: []string{"-suite NAME [-case PATTERN] [-n N] [-count N] [-calm N] [-json] [-out FILE] [-record FOLDER]"}, About: about,
		Prints: cli.PrintsJSON | cli.PrintsProgress, Ranks: true,
		Examples: []string{
			"pmbench run -suite spmm -case 'k=8/'",
			"pmbench run -suite spmm -count 20 -json -out new.txt > spmm.jsonl",
			"pmbench run -suite search -full -case equality -count 1",
			"pmbench run -suite all -record recordings",
			"pmbench run -suite sealed -n 10000000 -case 'one|bytes|end' -count 1",
			"pmbench run -suite levels -count 1 -no-limits",
		},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(runFlags)
			f.define(fs, "; required")
			fs.StringVar(&f.out, "out", "", "write the Go benchmark format, which compare and benchstat read, to `FILE`")
			recordVar(fs, &f.record)
			cli.CountVar(fs, &f.calm, "calm", 0, "only the best stretch counts of the first three beside which `N` processors at once are quick, or of all where there are none (default: all count)")
			cli.CountVar(fs, &f.rows, "n", 0, "suites sealed and ranks with `N` rows (default: as many as the suite has)")
			fs.BoolVar(&f.noLimits, "no-limits", false, "do not measure the limits of the machine: no roof_fraction")
			return f.run
		},
	}
}

type runFlags struct {
	suite, pattern, out, record string
	count, rows, calm           int
	full, noLimits              bool
}

// define declares the flags that choose what to measure; missing says what it
// means not to name a suite.
func (f *runFlags) define(fs *flag.FlagSet, missing string) {
	fs.StringVar(&f.suite, "suite", "", "the suite `NAME`: "+strings.Join(suiteNames(), ", ")+"; several with commas, or all"+missing)
	fs.StringVar(&f.pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
	cli.CountVar(fs, &f.count, "count", 0, "measure every case `N` times, in calm moments if there are any (default: as often as fits)")
	fs.BoolVar(&f.full, "full", false, "the long form: all cases, 10 rounds, however long it takes")
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

// writeTable prints a line per case, and the table of suite levels.
func writeTable(w io.Writer, all []summary) error {
	rest := slices.DeleteFunc(slices.Clone(all), func(s summary) bool { return s.Settings != nil })
	if len(rest) > 0 {
		if err := writeCases(w, rest); err != nil {
			return err
		}
	}
	return writeLevels(w, all)
}

// writeCases prints a line per case.
func writeCases(w io.Writer, all []summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "suite\tcase\tmedian\tquartiles\trounds\trate\tns/nnz\tof limit\teta p99\tpeak\tB/nnz\t")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s..%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", s.Suite, s.Case,
			duration(s.Seconds), duration(s.Low), duration(s.High), roundsCell(s), rate(s.Record), optional(s.NsPerNNZ, "%.2f"),
			fraction(s.Record), optional(s.EtaP99, "%.1e"), size(s.PeakBytes), optional(s.PeakPerNNZ, "%.1f"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range all {
		if s.Products > 0 {
			if _, err := fmt.Fprintf(w, "%s: %d products, %s for each\n", s.Case, s.Products, duration(s.Seconds/float64(s.Products))); err != nil {
				return err
			}
		}
	}
	if err := writeLatency(w, all); err != nil {
		return err
	}
	for _, s := range all {
		if s.Compared != nil {
			if _, err := fmt.Fprintf(w, "%s: of all pairs %.3g%% compared by codes of %d bytes, %.3g%% measured, %.3g%% found\n", s.Case, 100**s.Compared, s.Depth, 100**s.Measured, 100**s.Found); err != nil {
				return err
			}
		}
		for _, e := range s.Equal {
			if _, err := fmt.Fprintf(w, "%s: %d pairs within %.6g, %.4g neighbours on average: equal to those of all float64 distances\n", s.Case, e.Pairs, e.Radius, e.Degree); err != nil {
				return err
			}
		}
	}
	if err := writeStepRatios(w, all); err != nil {
		return err
	}
	if err := writeServiceRatios(w, all); err != nil {
		return err
	}
	if err := writeSealed(w, all); err != nil {
		return err
	}
	if err := writeTraffic(w, all); err != nil {
		return err
	}
	if err := writeCopyRatios(w, all); err != nil {
		return err
	}
	return writeChoices(w, all)
}

// writeStepRatios prints what a fused step costs relative to its product.
func writeStepRatios(w io.Writer, all []summary) error {
	for _, r := range stepRatios(all) {
		if _, err := fmt.Fprintf(w, "step / product at %s: %.2f\n", r.name, r.ratio); err != nil {
			return err
		}
	}
	return nil
}

type stepRatio struct {
	name  string
	ratio float64
}

// stepRatios pairs the steps of suite step with their products.
func stepRatios(all []summary) (out []stepRatio) {
	product := map[string]float64{}
	for _, s := range all {
		if name, ok := strings.CutPrefix(s.Case, "op=product/"); ok && s.Suite == "step" {
			product[name] = s.Seconds
		}
	}
	for _, s := range all {
		if name, ok := strings.CutPrefix(s.Case, "op=step/"); ok && s.Suite == "step" && product[name] > 0 {
			out = append(out, stepRatio{name, s.Seconds / product[name]})
		}
	}
	return out
}

func rate(r *Record) string {
	switch {
	case r.GnnzPerS != nil:
		return fmt.Sprintf("%.3g Gnnz/s", *r.GnnzPerS)
	case r.PairsPerS != nil:
		return fmt.Sprintf("%.3g Mpairs/s", *r.PairsPerS/1e6)
	}
	return ""
}

func fraction(r *Record) string {
	if r.RoofFraction == nil {
		return ""
	}
	return fmt.Sprintf("%.2g %s", *r.RoofFraction, r.Roof)
}
