package main

import (
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/ranks"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func ranksVerb() cli.Verb {
	return cli.Verb{
		Name: "ranks", Summary: "report how much faster several ranks are than one",
		Synopsis: []string{"[-ranks 1,2,4] [-mpirun COMMAND | -local] [-case PATTERN] [-n N] [-count N] [-times N] [-steal PERCENT] [-json] [-record FOLDER]"},
		About: `
Measures suite ranks with several numbers of ranks, one worker each, in rounds: each case
with all numbers, one after the other, once a round, as the median of -times measurements of
one start of mpirun. A figure is the time of the first number of ranks over that of another
one, the median of the rounds' own ratios, with their quartiles. With scaling=strong all ranks
share the same rows, and 2 is the best that twice as many ranks can reach. With scaling=weak
every rank has as many rows of its own, and 1 is the best. Next to it are the bytes that all
ranks together receive in one operation: of rows that one rank sends another (halos), of what
every rank gets from every other one, and what a step would take that gathers the whole iterate
(MPI_Allgatherv).

Other users of the machine slow down several ranks more than one, since all ranks wait for
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
rounds as -count says. Where not enough of them are calm, the calmest are reported, and a note says
so. No measurement and no round is left out for what it has measured. With -steal 100 everything
counts.

The command starts mpirun itself, once in a round for each number of ranks and graph, with this
program, which has to be built with MPI: CC=mpicc go build -tags mpi ./cmd/pmbench. Open MPI is asked not to bind ranks
to cores and to allow more ranks than cores, unless the environment says otherwise. With
-local ranks are goroutines of this process: what ranks cost without messages.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench ranks", "pmbench ranks -local -ranks 1,2 -case 'op=step/graph=cells/d=2'", "pmbench ranks -mpirun mpirun.mpich -count 9 -record recordings"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(ranks.Options)
			fs.StringVar(&f.Ranks, "ranks", "1,2,4", "measure with these `NUMBERS` of ranks, with commas; the first is what the others are held against")
			fs.StringVar(&f.MPIRun, "mpirun", "mpirun", "start ranks by the `COMMAND`, with the options that stand in it")
			fs.BoolVar(&f.Local, "local", false, "ranks are goroutines of this process")
			fs.StringVar(&f.Pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
			cli.CountVar(fs, &f.Rows, "n", suites.RankRows, "`N` rows, a tenth of them in the search in many dimensions, and half of them for each rank with scaling=weak")
			cli.CountVar(fs, &f.Count, "count", 7, "measure `N` rounds")
			cli.CountVar(fs, &f.Times, "times", ranks.Times, "measure `N` times at each start of mpirun and take the median: the first time pays for fresh memory and for connections")
			fs.Float64Var(&f.Stolen, "steal", 2, "leave out measurements in which the host of a virtual machine had processors wait for more than `PERCENT` of the time that they wanted to work; with 100 everything counts")
			recordVar(fs, &f.Record)
			return f.Run
		},
	}
}
