package main

import (
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/report"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func rooflineVerb() cli.Verb {
	return cli.Verb{
		Name: "roofline", Summary: "hold products and steps against bandwidth and arithmetic",
		Synopsis: []string{"[RECORDING...] [-suite NAMES] [-case PATTERN] [-svg FILE]"},
		About: `
For each case: multiply-adds per byte of the model, the rate reached, and what the
bandwidth of reading and scalar arithmetic would allow at most, each measured in the
same run. Recordings are files of run -json; without one the suites spmm and step are
measured. A share of the bandwidth above 1 means that caches held a part of the data.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench roofline", "pmbench roofline spmm.jsonl -svg roofline.svg"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(report.Roofline)
			chooseSuitesVar(fs, &f.Options, " (default: spmm,step, or all of the recordings)")
			fs.StringVar(&f.SVG, "svg", "", "write the picture to `FILE`")
			return f.Run
		},
	}
}
