package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/par"
)

func ranksVerb() cli.Verb {
	return cli.Verb{
		Name: "ranks", Summary: "tell how much faster several ranks are than one",
		Synopsis: []string{"[-ranks 1,2,4] [-mpirun COMMAND | -local] [-case PATTERN] [-n N] [-count N] [-times N] [-steal PERCENT] [-json] [-record FOLDER]"},
		About: `
Measures suite ranks with several numbers of ranks, one worker each, in rounds: each case
with all numbers, one after the other, once a round, as the median of -times measurements of
one start of mpirun. A figure is the time of the first number of ranks over that of another
one, the median of the rounds' own ratios, with their quartiles. With scaling=strong all ranks
share the same rows, and 2 is the best that twice as many ranks can reach. With scaling=weak
every rank has as many rows of its own, and 1 is the best. Beside it are the bytes that all
ranks together receive in one operation: of rows that one rank sends another (halos), of what
every rank gets from every other one, and what a step would take that gathers the whole iterate
(MPI_Allgatherv).

Whoever else uses the machine slows down several ranks more than one, for all ranks wait for
the slowest. So with any number of ranks, before and after 5 milliseconds of operations, or one
operation that takes longer, as many processors as there are ranks at most read a yardstick at
once: a millisecond of exponentials. What lies between two readings is calm where both are
within 10% of the least. What happens between them they do not see, so a measurement goes on
until it has met three calm stretches, for up to 2 seconds more, and the fastest of the three
counts: disturbances only ever add time. (Several ranks share the readings. Where ranks are more
than the processors of this machine, rank 0 makes them.)

A measurement is calm where what counts of it is calm by the least reading of all rounds with as
many ranks, and the host of a virtual machine had processors wait meanwhile (what top calls st)
for at most -steal percent of the time that they wanted to work, on the machine of rank 0. In
short measurements one tick of a hundredth of a second is more. The median is that of the calm
measurements, without the last one where their number is even. A round in which a case has no
calm one, with any number of ranks, is measured again, so there may be three times as many
rounds as -count says. Where not enough of them are calm, the calmest are told, and a note says
so. No measurement and no round is left out for what it has measured. With -steal 100 everything
counts.

The command starts mpirun itself, once in a round for each number of ranks and graph, with this
program, which has to be built with MPI: CC=mpicc go build -tags mpi ./cmd/pmbench. Open MPI is told not to bind ranks
to cores and to allow more ranks than cores, unless the environment says otherwise. With
-local ranks are goroutines of this process: what ranks cost without messages.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench ranks", "pmbench ranks -local -ranks 1,2 -case 'op=step/graph=cells/d=2'", "pmbench ranks -mpirun mpirun.mpich -count 9 -record recordings"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(ranksFlags)
			fs.StringVar(&f.ranks, "ranks", "1,2,4", "measure with these `NUMBERS` of ranks, with commas; the first is what the others are held against")
			fs.StringVar(&f.mpirun, "mpirun", "mpirun", "start ranks by the `COMMAND`, with the options that stand in it")
			fs.BoolVar(&f.local, "local", false, "ranks are goroutines of this process")
			fs.StringVar(&f.pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
			cli.CountVar(fs, &f.rows, "n", rankRows, "`N` rows, a tenth of them in the search in many dimensions, and half of them for each rank with scaling=weak")
			cli.CountVar(fs, &f.count, "count", 7, "measure `N` rounds")
			cli.CountVar(fs, &f.times, "times", ourTimes, "measure `N` times at each start of mpirun, of which the median counts: the first time pays for fresh memory and for connections")
			fs.Float64Var(&f.stolen, "steal", 2, "leave out measurements in which the host of a virtual machine had processors wait for more than `PERCENT` of the time that they wanted to work; with 100 everything counts")
			recordVar(fs, &f.record)
			return f.run
		},
	}
}

type ranksFlags struct {
	ranks, mpirun, pattern, record string
	rows, count, times             int
	local                          bool
	stolen                         float64 // percent
	calm                           int     // processors that are read; 0: everything counts
}

// A rankWorld runs cases of suite ranks, once, with a number of ranks.
type rankWorld func(ctx context.Context, ranks int, cases []benchCase) ([]*Record, error)

func (f *ranksFlags) run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q", names[0])
	}
	if !(f.stolen >= 0 && f.stolen <= 100) {
		return cli.Usagef("-steal %g: want 0 to 100", f.stolen)
	}
	sizes, err := rankNumbers(f.ranks)
	if err != nil {
		return err
	}
	pattern, err := choosePattern(f.pattern)
	if err != nil {
		return err
	}
	if f.stolen < 100 {
		f.calm = min(slices.Max(sizes), runtime.NumCPU())
	}
	e.NoteLevel()
	m := describeMachine()
	l := newLab(m, newMeter(e))
	l.rows = f.rows
	defer l.meter.clear()
	groups := rankGroups(l, sizes, pattern)
	if len(groups) == 0 {
		return cli.Usagef("no case matches %q", f.pattern)
	}
	folder, err := recordingFolder(f.record, m)
	if err != nil {
		return err
	}
	if m.busy() {
		e.Note("the machine is busy (load %s on %d cores): figures will vary", m.Load, m.Cores)
	}
	world := f.started
	if f.local {
		world = func(ctx context.Context, ranks int, cases []benchCase) ([]*Record, error) {
			return localRecords(ctx, m, f.rows, ranks, f.calm, cases, (&runFlags{count: f.times}).schedule(suite{}))
		}
	}
	records, disturbed, ended := f.measure(ctx, l, groups, world)
	l.meter.clear()
	if len(disturbed) > 0 {
		e.Note("the machine was disturbed in %s: speedups may be off", strings.Join(disturbed, "; "))
	}
	for _, r := range records {
		r.Command, r.EndedEarly = commandLine(e), ended != nil
	}
	if ended = keepSuite(ctx, e, folder, "ranks-scaling"+f.part(), records, ended); ended != nil && len(records) > 0 {
		e.Note("ended early; measurements of finished operations: %d", len(records))
	}
	return errors.Join(ended, showScalings(e, m, scalings(records)))
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
	cases [][]benchCase // by number of ranks
}

// rankGroups returns the cases that match, those of a graph together.
func rankGroups(l *lab, sizes []int, pattern *regexp.Regexp) (out []*rankGroup) {
	for at, size := range sizes {
		for _, c := range rankCasesOf(l, size) {
			if !pattern.MatchString(c.name) {
				continue
			}
			name := withoutParts(c.name, "op", "n", "ranks")
			i := slices.IndexFunc(out, func(g *rankGroup) bool { return g.name == name })
			if i < 0 {
				i, out = len(out), append(out, &rankGroup{name, sizes, make([][]benchCase, len(sizes))})
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
func localRecords(ctx context.Context, m *Machine, rows, ranks, calm int, cases []benchCase, s schedule) (records []*Record, err error) {
	err = cluster.Local(ranks, func(r *par.Ranks) error {
		l := newLab(m, newMeter(&cli.Env{Quiet: true}))
		l.ranks, l.rows, l.calm = r, rows, calm
		defer l.close()
		return measureShared(ctx, l, "ranks", cases, s, func(r *Record) error {
			records = append(records, r)
			return nil
		})
	})
	return records, err
}

// started measures cases by this program, started by mpirun.
func (f *ranksFlags) started(ctx context.Context, ranks int, cases []benchCase) ([]*Record, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = regexp.QuoteMeta(c.name)
	}
	args := []string{program, "run", "-suite", "ranks", "-case", "^(" + strings.Join(names, "|") + ")$",
		"-n", fmt.Sprint(f.rows), "-count", fmt.Sprint(f.times), "-no-limits", "-json", "-quiet"}
	if f.calm > 0 {
		args = append(args, "-calm", fmt.Sprint(f.calm))
	}
	return startRanks(ctx, f.mpirun, ranks, args...)
}

// startRanks has mpirun start a program and returns the records that it prints.
func startRanks(ctx context.Context, mpirun string, ranks int, program ...string) (records []*Record, err error) {
	args := mpirunArgs(mpirun, ranks, program...)
	if len(args) == 0 {
		return nil, cli.Usagef("-mpirun names no command")
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = rankEnvironment()
	out, err := output(ctx, c)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		r := new(Record)
		switch err := d.Decode(r); {
		case err == io.EOF:
			return records, nil
		case err != nil:
			return nil, fmt.Errorf("what rank 0 printed is no record: %w", err)
		}
		records = append(records, r)
	}
}

// mpirunArgs is the command that starts a program on a number of ranks.
func mpirunArgs(mpirun string, ranks int, program ...string) []string {
	words := strings.Fields(mpirun)
	if len(words) == 0 {
		return nil
	}
	return append(append(words, "-n", fmt.Sprint(ranks)), program...)
}

// rankEnvironment is what mpirun is started with: Open MPI would bind a rank to one core,
// where its workers and its messages wait for each other, and refuse more ranks than cores.
func rankEnvironment() []string {
	out := os.Environ()
	for _, v := range []struct{ name, value string }{
		{"OMPI_MCA_hwloc_base_binding_policy", "none"}, {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
	} {
		if _, ok := os.LookupEnv(v.name); !ok {
			out = append(out, v.name+"="+v.value)
		}
	}
	return out
}

// part is how the name of a recording ends that the flags make one of a part of the cases.
func (f *ranksFlags) part() string {
	rows, local := "", ""
	if f.rows != rankRows {
		rows = fmt.Sprint("n=", f.rows)
	}
	if f.local {
		local = "local"
	}
	return partName(f.pattern, rows, local)
}
