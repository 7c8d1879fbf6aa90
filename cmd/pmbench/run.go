package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// recordVar declares the flag of the folder that recordings are kept in.
func recordVar(fs *flag.FlagSet, folder *string) {
	fs.StringVar(folder, "record", "", "keep a recording of each suite, which report reads, in `FOLDER`, below it in one named for the family of the processor; a part of a suite goes to a file of its own")
}

func runVerb() cli.Verb {
	about := "Measures a suite and prints a table, or with -json one object per measurement. Suites:\n"
	for _, s := range suites.All() {
		about += fmt.Sprintf("  %-10s %s\n", s.Name, s.About)
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
			f := new(suites.Options)
			chooseSuitesVar(fs, f, "; required")
			fs.StringVar(&f.Out, "out", "", "write the Go benchmark format, which compare and benchstat read, to `FILE`")
			recordVar(fs, &f.Record)
			cli.CountVar(fs, &f.Calm, "calm", 0, "use the best of the first three stretches in which `N` processors are undisturbed, or of all if there is no such stretch (default: use all)")
			cli.CountVar(fs, &f.Rows, "n", 0, "suites sealed and ranks with `N` rows (default: as many as the suite has)")
			fs.BoolVar(&f.NoLimits, "no-limits", false, "do not measure the limits of the machine: no roof_fraction")
			return f.Run
		},
	}
}

// chooseSuitesVar declares the flags that choose what to measure; missing says what it
// means not to name a suite.
func chooseSuitesVar(fs *flag.FlagSet, f *suites.Options, missing string) {
	fs.StringVar(&f.Suite, "suite", "", "the suite `NAME`: "+strings.Join(suites.Names(), ", ")+"; several with commas, or all"+missing)
	fs.StringVar(&f.Pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
	cli.CountVar(fs, &f.Count, "count", 0, "measure every case `N` times, in calm moments if there are any (default: as often as fits)")
	fs.BoolVar(&f.Full, "full", false, "the long form: all cases, 10 rounds, however long it takes")
}
