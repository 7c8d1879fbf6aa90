// Package ranks reports how much faster several ranks are than one: it measures suite ranks with
// several numbers of ranks, in rounds (Options), or predicts by a model what more ranks than
// there are would take (Model).
package ranks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/par"
)

// Options are what verb ranks is asked for.
type Options struct {
	Ranks   string // numbers with commas
	MPIRun  string // the command that starts ranks, with its options
	Pattern string
	Record  string // the folder of recordings; "": none
	Rows    int
	Count   int // rounds
	Times   int // measurements of a start of mpirun
	Local   bool
	Stolen  float64 // percent
	calm    int     // processors that are read; 0: everything counts
}

// A rankWorld runs cases of suite ranks, once, with a number of ranks.
type rankWorld func(ctx context.Context, ranks int, cases []measure.Case) ([]*record.Record, error)

// Run measures suite ranks with all numbers of ranks. No names are wanted.
func (f *Options) Run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q", names[0])
	}
	if !(f.Stolen >= 0 && f.Stolen <= 100) {
		return cli.Usagef("-steal %g: want 0 to 100", f.Stolen)
	}
	sizes, err := rankNumbers(f.Ranks)
	if err != nil {
		return err
	}
	pattern, err := suites.ChoosePattern(f.Pattern)
	if err != nil {
		return err
	}
	if f.Stolen < 100 {
		f.calm = min(slices.Max(sizes), runtime.NumCPU())
	}
	e.NoteLevel()
	m := measure.Machine()
	l := measure.NewLab(m, measure.NewMeter(e))
	l.Rows = f.Rows
	defer l.Meter.Clear()
	groups := rankGroups(l, sizes, pattern)
	if len(groups) == 0 {
		return cli.Usagef("no case matches %q", f.Pattern)
	}
	folder, err := record.Folder(f.Record, m)
	if err != nil {
		return err
	}
	if m.Busy() {
		e.Note("the machine is busy (load %s on %d cores): figures will vary", m.Load, m.Cores)
	}
	world := f.started
	if f.Local {
		world = func(ctx context.Context, ranks int, cases []measure.Case) ([]*record.Record, error) {
			return localRecords(ctx, m, f.Rows, ranks, f.calm, cases, (&suites.Options{Count: f.Times}).Schedule(suites.Suite{}))
		}
	}
	records, disturbed, ended := f.measure(ctx, l, groups, world)
	l.Meter.Clear()
	if len(disturbed) > 0 {
		e.Note("the machine was disturbed in %s: speedups may be off", strings.Join(disturbed, "; "))
	}
	for _, r := range records {
		r.Command, r.EndedEarly = record.CommandLine(e), ended != nil
	}
	if ended = record.Keep(ctx, e, folder, "ranks-scaling"+f.part(), records, ended); ended != nil && len(records) > 0 {
		e.Note("ended early; measurements of finished operations: %d", len(records))
	}
	return errors.Join(ended, showScalings(e, m, Scalings(records)))
}

// rankNumbers reads the numbers of ranks.
func rankNumbers(text string) (out []int, err error) {
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || slices.Contains(out, n) {
			return nil, cli.Usagef("-ranks %q: want different numbers from 1 on, with commas", text)
		}
		out = append(out, n)
	}
	return out, nil
}

// A rankGroup is cases that are measured one after the other on the same graph, with each
// number of ranks.
type rankGroup struct {
	name  string
	ranks []int
	cases [][]measure.Case // by number of ranks
}

// rankGroups returns the cases that match, those of a graph together.
func rankGroups(l *measure.Lab, sizes []int, pattern *regexp.Regexp) (out []*rankGroup) {
	for at, size := range sizes {
		for _, c := range suites.RankCases(l, size) {
			if !pattern.MatchString(c.Name) {
				continue
			}
			name := withoutParts(c.Name, "op", "n", "ranks")
			i := slices.IndexFunc(out, func(g *rankGroup) bool { return g.name == name })
			if i < 0 {
				i, out = len(out), append(out, &rankGroup{name, sizes, make([][]measure.Case, len(sizes))})
			}
			out[i].cases[at] = append(out[i].cases[at], c)
		}
	}
	return out
}

// withoutParts returns the name of a case without some of its key=value pairs.
func withoutParts(name string, keys ...string) string {
	parts := slices.DeleteFunc(strings.Split(name, "/"), func(part string) bool {
		key, _, _ := strings.Cut(part, "=")
		return slices.Contains(keys, key)
	})
	return strings.Join(parts, "/")
}

// localRecords measures cases with ranks that are goroutines.
func localRecords(ctx context.Context, m *record.Machine, rows, ranks, calm int, cases []measure.Case, s measure.Schedule) (records []*record.Record, err error) {
	err = cluster.Local(ranks, func(r *par.Ranks) error {
		l := measure.NewLab(m, measure.NewMeter(&cli.Env{Quiet: true}))
		l.Ranks, l.Rows, l.Calm = r, rows, calm
		defer l.Close()
		return measure.Run(ctx, l, "ranks", cases, s, func(r *record.Record) error {
			records = append(records, r)
			return nil
		})
	})
	return records, err
}

// started measures cases by this program, started by mpirun.
func (f *Options) started(ctx context.Context, ranks int, cases []measure.Case) ([]*record.Record, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = regexp.QuoteMeta(c.Name)
	}
	args := []string{program, "run", "-suite", "ranks", "-case", "^(" + strings.Join(names, "|") + ")$",
		"-n", fmt.Sprint(f.Rows), "-count", fmt.Sprint(f.Times), "-no-limits", "-json", "-quiet"}
	if f.calm > 0 {
		args = append(args, "-calm", fmt.Sprint(f.calm))
	}
	return startRanks(ctx, f.MPIRun, ranks, args...)
}

// startRanks has mpirun start a program and returns the records that it prints.
func startRanks(ctx context.Context, mpirun string, ranks int, program ...string) (records []*record.Record, err error) {
	args := measure.MPIRun(mpirun, ranks, program...)
	if len(args) == 0 {
		return nil, cli.Usagef("-mpirun names no command")
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = measure.RankEnvironment()
	out, err := measure.Output(ctx, c)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		r := new(record.Record)
		switch err := d.Decode(r); {
		case err == io.EOF:
			return records, nil
		case err != nil:
			return nil, fmt.Errorf("rank 0 printed a malformed record: %w", err)
		}
		records = append(records, r)
	}
}

// part is how the name of a recording ends that the flags make one of a part of the cases.
func (f *Options) part() string {
	rows, local := "", ""
	if f.Rows != suites.RankRows {
		rows = fmt.Sprint("n=", f.Rows)
	}
	if f.Local {
		local = "local"
	}
	return record.PartName(f.Pattern, rows, local)
}

// Times is how often our ranks measure a case once they are started: as in pmbench ranks.
const Times = 5

// Seconds measures a case with a number of ranks, in processes that mpirun starts where
// this program has MPI, and for a slice of time as goroutines otherwise.
func Seconds(ctx context.Context, m *record.Machine, mpirun string, rows, ranks int, slice time.Duration, one measure.Case) ([]float64, error) {
	world := func(ctx context.Context, ranks int, cases []measure.Case) ([]*record.Record, error) {
		return localRecords(ctx, m, rows, ranks, 0, cases, measure.Schedule{Rounds: 1, Slice: slice, Long: time.Second})
	}
	if hasMPI() {
		world = (&Options{MPIRun: mpirun, Rows: rows, Times: Times}).started
	}
	records, err := world(ctx, ranks, []measure.Case{one})
	if err != nil {
		return nil, err
	}
	records = newCalmness(100).medians(records)
	if len(records) != 1 {
		return nil, fmt.Errorf("%d measurements of %s", len(records), one.Name)
	}
	return []float64{records[0].Seconds}, nil
}

var mpiTag = regexp.MustCompile(`(^|,)mpi(,|$)`)

// hasMPI reports whether this program was built with MPI.
func hasMPI() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-tags" && mpiTag.MatchString(s.Value) })
}
