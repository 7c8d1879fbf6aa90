package main

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/peers"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func peersVerb() cli.Verb {
	about := `
Builds the peers that are installed and lets them and us take turns on the same data,
first checking that the results are the same. A ratio is their time over ours, the
median of at least 5 rounds: above 1 we are faster. No ratio is given for a result
that differs. A peer that is not installed is named; that is not an error. When Ctrl-C,
SIGTERM or a peer that fails ends the run early, the rounds that were finished are
printed, with their number, and kept where -record says, in a file whose name ends in
-ended-early: a whole recording that is there already stays. The peers end too. A second
Ctrl-C ends the program at once.

With -case, -peer or -n a recording is of a part of a suite: -record gives it a name with
-part, and the recording of the whole suite stays. report takes the newest of each case.

`
	for _, s := range peers.Suites() {
		about += fmt.Sprintf("  %-8s %s\n", s.Name, strings.ReplaceAll(strings.TrimSpace(s.About+"\n"+s.Note), "\n", "\n"+strings.Repeat(" ", 11)))
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
			f := new(peers.Options)
			fs.StringVar(&f.Suite, "suite", "spmm,cells", "the suites `NAMES`: "+strings.Join(peers.SuiteNames(), ", ")+", with commas")
			fs.StringVar(&f.Pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
			fs.StringVar(&f.Peer, "peer", "", "only peers whose name matches the regular expression `PATTERN`, whatever its case")
			cli.CountVar(fs, &f.Count, "count", peers.MinRounds, "measure `N` rounds, at least 5")
			cli.CountVar(fs, &f.N, "n", suites.DefaultRows, "number of rows `N`, or the most there may be where a suite has fewer")
			fs.DurationVar(&f.Slice, "slice", 150*time.Millisecond, "in a round either side repeats its operation for the `TIME`, at least once")
			recordVar(fs, &f.Record)
			fs.BoolVar(&f.NoLimits, "no-limits", false, "do not measure the limits of the machine")
			return f.Run
		},
	}
}
