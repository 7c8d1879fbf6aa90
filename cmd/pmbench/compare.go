package main

import (
	"context"
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/compare"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func compareVerb() cli.Verb {
	return cli.Verb{
		Name: "compare", Summary: "report whether one recording is slower than another",
		Synopsis: []string{"OLD NEW [-threshold PERCENT] [-metric UNITS]"},
		About: `
Compares two files of run -out, or of go test -bench, case by case: medians, and the
Mann-Whitney U test with Holm's correction over all metrics compared. Every case needs
at least 10 measurements on either side.

A metric is worse when it changed for the worse by more than the threshold and the
corrected p is below 0.05: a comparison in which nothing changed says so of any metric
once in 20 times at most. It is likely worse when only its own p is below 0.05: of N
metrics that did not change, N/40 look so by chance. Measure again, more often, before
you believe it.

Exit codes:
  0  no metric is worse, likely worse or unclear
  1  a metric is worse, or the comparison is refused
  4  no metric is worse, and at least one is likely worse
  3  no metric is worse or likely worse, and at least one is unclear
A check that lets doubt pass accepts 0, 3 and 4, a stricter one 0 and 3; with
-fail-unclear the code is 1 in place of 3 and 4.

Time is compared in yards: run times a yardstick, a millisecond of exponentials on as
many workers, before and after the operation, and records the operation in units of it
(yards/op) and the slower of the two readings (yard-sec). A moment is calm when that is
within 10% of the least reading of either recording. With 10 calm measurements on
either side only these are compared. With fewer all are, and a change has to exceed the
threshold by as much as the yardstick itself varied (9th over 1st decile). Files
without yards are compared by sec/op; -metric sec/op does so always.

Other programs on the processors make an operation wait, and its time is unclear then.
Where it is, the processor time of the case is compared too, in units of the
processor time of the yardstick (cpu-yards/op): waiting for others is not in it. It says
nothing of what the operation itself waits for, so the time of the case stays unclear. Of
processor time the 10 calmest measurements count and those as calm; where others are not, a
change has to exceed the threshold by 10%, or by as much as the yardstick of one recording
was slower. With 20 measurements on either side a third more was found in 142 of 144 pairs
of recordings on a machine with a load of 24 on two cores, with 14 in 109
(cmd/pmbench/testdata/busy/notes.md).

A metric is unclear when a change of the size of the threshold could not have been
seen: the table says what could (with a chance of 80%), and the lines below it why.
Take more measurements, on a machine at rest, or let ab interleave them; operations of
more than a tenth of a second seldom fit into a calm moment of a shared machine.

Recordings of different systems, processors, numbers of cores or levels of processor
instructions are refused, as far as the files name them: -across compares them all the same,
in seconds where the processors differ, and says by what they differ. Different
versions of Go are compared and named.
`,
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{
			"pmbench run -suite spmm -case 'k=2/' -count 20 -out old.txt",
			"pmbench compare old.txt new.txt -threshold 3",
		},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(compare.Options)
			compareVar(fs, f)
			fs.BoolVar(&f.Across, "across", false, "compare recordings of different processors, cores or levels all the same")
			return func(_ context.Context, e *cli.Env, names []string) error {
				if len(names) != 2 {
					return cli.Usagef("two files are wanted, OLD and NEW, got %d", len(names))
				}
				return f.Files(e, names[0], names[1])
			}
		},
	}
}

// compareVar declares the flags of a comparison.
func compareVar(fs *flag.FlagSet, f *compare.Options) {
	fs.Float64Var(&f.Threshold, "threshold", 5, "a metric may get worse by `PERCENT`")
	fs.StringVar(&f.Metrics, "metric", record.YardsUnit+","+record.CPUYardsUnit+",peak-B", "compare these `UNITS`, separated by commas; rates are better when they are higher")
	fs.BoolVar(&f.FailUnclear, "fail-unclear", false, "exit with 1 where a metric is unclear or likely worse, too")
}
