package main

import (
	"flag"
	"fmt"
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
