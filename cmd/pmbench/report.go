package main

import (
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/report"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func reportVerb() cli.Verb {
	return cli.Verb{
		Name: "report", Summary: "write BENCHMARKS.md and a page with plots from recordings",
		Synopsis: []string{"FOLDER [-out FILE] [-html FILE]"},
		About: `
Reads all recordings (*.jsonl, of -record and of -json) in the folder and those below
it and writes tables, and the same as one HTML page with plots that needs no other file.
There is a section for each family of processors, with a table of each suite, the
machine, the commands and the versions. Of several recordings of a case the newest
counts. One that ended early counts where there is no other. What was recorded with
PM_SIMD stands in separate columns next to what was recorded without. The text of
notes.md in the folder, such as what was tried and rejected, is put at the end.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench report cmd/pmbench/testdata/recordings -out BENCHMARKS.md -html report.html"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(report.Options)
			fs.StringVar(&f.Out, "out", "BENCHMARKS.md", "write the tables to `FILE`")
			fs.StringVar(&f.HTML, "html", "", "write the page to `FILE`")
			return f.Run
		},
	}
}
